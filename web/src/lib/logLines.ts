// Text of a log, arriving in pieces, as lines to show: colours stripped, progress bars (\r) reduced to their last state.
export const MOST_LINES = 20_000

export function clean(line: string): string {
  const text = line.replace(/\r+$/, '')
  // eslint-disable-next-line no-control-regex
  return text.slice(text.lastIndexOf('\r') + 1).replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
}

export class LogLines {
  lines: string[] = []
  dropped = 0
  private rest = ''

  push(text: string): void {
    const parts = (this.rest + text).split('\n')
    this.rest = parts.pop() ?? ''
    for (const part of parts) this.lines.push(clean(part))
    if (this.lines.length > MOST_LINES) {
      const extra = this.lines.length - MOST_LINES
      this.lines.splice(0, extra)
      this.dropped += extra
    }
  }

  // What has no line end yet counts as a line too.
  end(): void {
    if (this.rest) this.push('\n')
  }
}

export function matching(lines: string[], word: string): number[] {
  const wanted = word.toLowerCase()
  const found: number[] = []
  if (wanted) lines.forEach((line, i) => { if (line.toLowerCase().includes(wanted)) found.push(i) })
  return found
}
