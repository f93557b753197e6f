// The canvas: scrolls inside, says what is under the pointer, moves by the arrow keys.
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router-dom'
import { FONT, useScheme } from '../../app/theme'
import { useText } from '../../i18n'
import { draw, type Mode } from './draw'
import { corner, spotAt, step, type Layout, type Spot } from './layout'
import { Tip } from './Tip'

interface Props { layout: Layout; mode: Mode; find: string; height: number; zoom: (by: number) => void }

export function Field({ layout, mode, find, height, zoom }: Props) {
  const { t, f } = useText()
  const scheme = useScheme()
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [top, scrolled] = useState(0)
  const [at, point] = useState<Spot | null>(null)
  const spot = at && layout.groups[at.group]?.nodes[at.node] ? at : null

  useLayoutEffect(() => {
    const c = canvas.current!
    const scale = window.devicePixelRatio || 1
    c.width = Math.round(layout.width * scale)
    c.height = Math.round(height * scale)
    const frame = requestAnimationFrame(() => {
      const ctx = c.getContext('2d')!
      ctx.setTransform(scale, 0, 0, scale, 0, 0)
      draw({ ctx, layout, mode, scheme, find }, top, height, spot, (name, n) => `${name}  ${f.whole(n)}`, FONT)
    })
    return () => cancelAnimationFrame(frame)
  }, [layout, mode, scheme, find, top, height, spot, f])

  // Ctrl with the wheel zooms; React's wheel handlers are passive, so this one is our own.
  useEffect(() => {
    const wheel = (e: WheelEvent) => {
      if (!e.ctrlKey) return
      e.preventDefault()
      zoom(e.deltaY < 0 ? 1 : -1)
    }
    const b = box.current!
    b.addEventListener('wheel', wheel, { passive: false })
    return () => b.removeEventListener('wheel', wheel)
  }, [zoom])

  const open = (s: Spot | null) => {
    if (!s) return
    const node = layout.groups[s.group].nodes[s.node]
    navigate(`/nodes/${encodeURIComponent(node.name)}${s.card >= 0 ? `?card=${node.cards?.[s.card].index ?? 0}` : ''}`)
  }
  const key = (e: KeyboardEvent) => {
    if (e.key === 'Enter') open(spot)
    else if (e.key === 'Escape') point(null)
    else if (e.key === '+' || e.key === '=') zoom(1)
    else if (e.key === '-') zoom(-1)
    else if (e.key.startsWith('Arrow')) {
      const next = step(layout, spot, e.key)
      point(next)
      if (next && box.current) {
        const { y } = corner(layout, next)
        if (y < top) box.current.scrollTop = y - 30
        else if (y + layout.rowHeight > top + height) box.current.scrollTop = y + layout.rowHeight - height
      }
    } else return
    e.preventDefault()
  }
  const nodes = layout.groups.reduce((n, g) => n + g.nodes.length, 0)
  const place = spot && spot.card >= 0 ? corner(layout, spot) : null
  return (
    <div ref={box} className="field" style={{ height }} tabIndex={0} role="application" aria-label={t('heat.label', { n: f.whole(nodes) })} onKeyDown={key}
      onScroll={(e) => scrolled(e.currentTarget.scrollTop)}>
      <div style={{ height: Math.max(layout.height, height), position: 'relative' }}>
        <canvas ref={canvas} style={{ position: 'sticky', top: 0, display: 'block', width: layout.width, height, cursor: spot ? 'pointer' : 'default' }}
          onPointerMove={(e) => {
            const r = e.currentTarget.getBoundingClientRect()
            const next = spotAt(layout, e.clientX - r.left, e.clientY - r.top + top)
            point((old) => (old && next && old.group === next.group && old.node === next.node && old.card === next.card ? old : next))
          }}
          onPointerLeave={() => point(null)} onClick={() => open(spot)} />
        {spot && place && <Tip node={layout.groups[spot.group].nodes[spot.node]} card={layout.groups[spot.group].nodes[spot.node].cards![spot.card]} x={place.x + layout.size + 8} y={place.y} width={layout.width}
          flip={place.y - top > height - 210} />}
      </div>
    </div>
  )
}
