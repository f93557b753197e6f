// CSV (RFC 4180) with a BOM, so that spreadsheets read UTF-8. A cell that a spreadsheet would run as a formula gets an apostrophe.
export function csvText(rows: (string | number | undefined)[][]): string {
  const cell = (value: string | number | undefined) => {
    let text = value === undefined ? '' : String(value)
    if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return '\ufeff' + rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}

export function save(name: string, data: BlobPart, type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([data], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
