// Many lines of fixed height; only those in view are in the document.
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'

const LINE = 18

interface Props {
  count: number
  height: number
  follow: boolean
  onLeave: (atEnd: boolean) => void
  show: (index: number) => ReactNode
  target?: number // brought into view when it changes
  label: string
}

export function Lines({ count, height, follow, onLeave, show, target, label }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [top, scrolled] = useState(0)
  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [count, follow, height])
  useEffect(() => {
    if (target !== undefined && box.current) box.current.scrollTop = Math.max(0, target * LINE - height / 2)
  }, [target, height])
  const from = Math.max(0, Math.floor(top / LINE) - 10)
  const to = Math.min(count, Math.ceil((top + height) / LINE) + 10)
  const rows = []
  for (let i = from; i < to; i++) rows.push(<div key={i} style={{ height: LINE }}>{show(i)}</div>)
  return (
    <div ref={box} className="lines" style={{ height }} tabIndex={0} role="log" aria-label={label}
      onScroll={(e) => {
        const b = e.currentTarget
        scrolled(b.scrollTop)
        onLeave(b.scrollTop + b.clientHeight >= b.scrollHeight - LINE)
      }}>
      <div style={{ height: count * LINE, position: 'relative' }}>
        <div style={{ position: 'absolute', top: from * LINE, left: 0 }}>{rows}</div>
      </div>
    </div>
  )
}
