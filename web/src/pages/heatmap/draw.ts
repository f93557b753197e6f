// Draws what is in view of the heat map on a canvas.
import { PALETTE, ramp, type Scheme } from '../../app/theme'
import type { CardView, NodeRow } from '../../api/types'
import { TONE_COLOURS } from '../../lib/states'
import { corner, headOf, type Layout, type Spot } from './layout'

export type Mode = 'use' | 'memory' | 'allocation' | 'temperature'
export const MODES: Mode[] = ['use', 'memory', 'allocation', 'temperature']

const share = (a = 0, b = 0) => (b > 0 ? Math.min(1, a / b) : 0)
const held = (c: CardView) => Math.max(share(c.memory_allocated_mib, c.memory_total_mib), Math.min(1, c.compute_allocated ?? 0))

export function valueOf(card: CardView, mode: Mode): number {
  if (mode === 'use') return (card.utilization_percent ?? 0) / 100
  if (mode === 'memory') return share(card.memory_used_mib, card.memory_total_mib)
  if (mode === 'temperature') return Math.max(0, Math.min(1, ((card.temperature_celsius ?? 30) - 30) / 60))
  return held(card)
}

const hatches = new Map<string, CanvasPattern | null>()
function hatch(ctx: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  if (!hatches.has(colour)) {
    const tile = document.createElement('canvas')
    tile.width = tile.height = 5
    const t = tile.getContext('2d')!
    t.strokeStyle = colour
    t.lineWidth = 1.4
    t.beginPath()
    t.moveTo(-1, 6); t.lineTo(6, -1)
    t.stroke()
    hatches.set(colour, ctx.createPattern(tile, 'repeat'))
  }
  return hatches.get(colour) ?? colour
}

interface View { ctx: CanvasRenderingContext2D; layout: Layout; mode: Mode; scheme: Scheme; find: string }

function drawCard({ ctx, mode, scheme }: View, card: CardView, node: NodeRow, x: number, y: number, s: number): void {
  const p = PALETTE[scheme]
  // Free: an empty frame; too small for one, a plain tile.
  ctx.fillStyle = s < 9 ? p.track : p.line
  ctx.fillRect(x, y, s, s)
  if (s >= 9) {
    ctx.fillStyle = p.raised
    ctx.fillRect(x + 1, y + 1, s - 2, s - 2)
  }
  const slices = card.slices ?? []
  if (slices.length > 0) {
    ctx.fillStyle = ramp(scheme, valueOf(card, mode))
    let bottom = y + s
    for (const slice of slices) {
      const height = Math.max(1, Math.min(bottom - y, s * Math.max(share(slice.memory_mib, card.memory_total_mib), Math.min(1, slice.compute ?? 0))))
      ctx.fillRect(x, bottom - height, s, height)
      bottom -= height
      if (s >= 9 && bottom > y + 1) {
        ctx.fillStyle = p.surface
        ctx.fillRect(x, bottom - 0.5, s, 1)
        ctx.fillStyle = ramp(scheme, valueOf(card, mode))
      }
    }
  }
  if (s >= 22 && (card.memory_used_mib ?? 0) > 0) {
    const height = s * share(card.memory_used_mib, card.memory_total_mib)
    ctx.fillStyle = p.surface
    ctx.fillRect(x + s - 4, y + s - height, 4, height)
    ctx.fillStyle = p.text
    ctx.fillRect(x + s - 3, y + s - height, 2, height)
  }
  if (card.healthy === false || node.state !== 'up') {
    const colour = TONE_COLOURS[scheme][card.healthy === false ? 'failed' : 'held']
    ctx.fillStyle = hatch(ctx, colour)
    ctx.fillRect(x, y, s, s)
    ctx.strokeStyle = colour
    ctx.lineWidth = 1
    ctx.strokeRect(x + 0.5, y + 0.5, s - 1, s - 1)
  }
}

export function draw(view: View, top: number, height: number, at: Spot | null, title: (name: string, nodes: number) => string, font: string): void {
  const { ctx, layout, scheme, find } = view
  const p = PALETTE[scheme]
  ctx.clearRect(0, 0, layout.width, height)
  ctx.save()
  ctx.translate(0, -top)
  ctx.textBaseline = 'middle'
  layout.groups.forEach((g, gi) => {
    if (g.top > top + height || g.top + g.height < top) return
    if (g.name) {
      ctx.font = `600 12px ${font}`
      ctx.fillStyle = p.soft
      ctx.fillText(title(g.name, g.nodes.length), 0, g.top + 13)
    }
    const first = Math.max(0, Math.floor((top - g.top - headOf(g)) / layout.rowHeight))
    const last = Math.ceil((top + height - g.top - headOf(g)) / layout.rowHeight)
    ctx.font = `${Math.min(12, layout.size)}px ${font}`
    for (let n = first * g.columns; n < Math.min(g.nodes.length, (last + 1) * g.columns); n++) {
      const node = g.nodes[n]
      ctx.globalAlpha = find && !node.name.includes(find) ? 0.15 : 1
      const { x, y } = corner(layout, { group: gi, node: n, card: 0 })
      if (layout.labels) {
        ctx.fillStyle = node.state === 'up' ? p.soft : TONE_COLOURS[scheme].held
        ctx.fillText(node.name, x - layout.labelWidth, y + layout.size / 2, layout.labelWidth - 8)
      }
      node.cards?.forEach((card, c) => drawCard(view, card, node, x + c * (layout.size + 1), y, layout.size))
    }
    ctx.globalAlpha = 1
  })
  if (at && at.card >= 0 && layout.groups[at.group]) {
    const { x, y } = corner(layout, at)
    ctx.strokeStyle = p.text
    ctx.lineWidth = 2
    ctx.strokeRect(x - 1, y - 1, layout.size + 2, layout.size + 2)
  }
  ctx.restore()
}
