// Parser of a text/event-stream (WHATWG HTML 9.2.6), fed with pieces of text cut anywhere.
export interface SseEvent {
  id?: string
  event: string
  data: string
}

export class SseParser {
  private rest = ''
  private data: string[] = []
  private event = ''
  private id: string | undefined
  retry: number | undefined

  constructor(private readonly emit: (event: SseEvent) => void) {}

  push(text: string): void {
    this.rest += text
    // A CR at the very end may be half of a CRLF: wait for what follows.
    const end = this.rest.endsWith('\r') ? this.rest.length - 1 : this.rest.length
    const lines = this.rest.slice(0, end).split(/\r\n|\n|\r/)
    this.rest = (lines.pop() ?? '') + this.rest.slice(end)
    for (const line of lines) this.line(line)
  }

  private line(line: string): void {
    if (line === '') return this.dispatch()
    if (line.startsWith(':')) return
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.data.push(value)
    else if (field === 'event') this.event = value
    else if (field === 'id' && !value.includes('\0')) this.id = value
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value)
  }

  private dispatch(): void {
    if (this.data.length > 0) this.emit({ id: this.id, event: this.event || 'message', data: this.data.join('\n') })
    this.data = []
    this.event = ''
  }
}
