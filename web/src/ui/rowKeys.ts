// Arrow keys move between the rows of an Ant Design table, Enter opens the row's first link.
import type { KeyboardEvent } from 'react'

export function rowKeys(e: KeyboardEvent<HTMLElement>): void {
  const at = e.target as HTMLElement
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && (at as HTMLInputElement).type !== 'checkbox') return
  const rows = [...e.currentTarget.querySelectorAll<HTMLElement>('.ant-table-row')]
  if (rows.length === 0) return
  const here = rows.findIndex((row) => row === at || row.contains(at))
  const go = (to: number) => {
    e.preventDefault()
    rows[Math.max(0, Math.min(rows.length - 1, to))].focus()
  }
  if (e.key === 'ArrowDown') go(here + 1)
  else if (e.key === 'ArrowUp') go(here < 0 ? 0 : here - 1)
  else if (e.key === 'Home' && here >= 0) go(0)
  else if (e.key === 'End' && here >= 0) go(rows.length - 1)
  else if (e.key === 'Enter' && at === rows[here]) rows[here].querySelector<HTMLAnchorElement>('a')?.click()
  else if (e.key === ' ' && at === rows[here]) {
    e.preventDefault()
    rows[here].querySelector<HTMLInputElement>('input[type=checkbox]')?.click()
  }
}
