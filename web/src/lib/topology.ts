// A topology graph as boxes in boxes: node ⊃ NUMA domains ⊃ devices. Pure layout, drawn by pages/node/Topology.tsx.
import type { TopologyEdge, TopologyVertex, TopologyView } from '../api/types'

export interface Box { id: string; kind: string; label: string; x: number; y: number; w: number; h: number }
export interface Wire { from: string; to: string; kind: string; label?: string }
export interface Drawing { width: number; height: number; domains: Box[]; devices: Box[]; wires: Wire[] }

const CELL = { w: 150, h: 30, gap: 8 }
const PAD = 12
const HEAD = 26
const ORDER = ['gpu', 'disk', 'nic']

export function layout(view: TopologyView, columns = 4): Drawing {
  const vertices = new Map((view.vertices ?? []).map((v) => [v.id ?? '', v]))
  const parent = new Map<string, string>()
  for (const e of view.edges ?? []) if (e.kind === 'contains') parent.set(e.to ?? '', e.from ?? '')
  const isDomain = (v?: TopologyVertex) => v?.kind === 'numa'
  const domainOf = (id: string): string => {
    for (let at = parent.get(id); at !== undefined; at = parent.get(at)) if (isDomain(vertices.get(at))) return at
    return ''
  }
  const groups = new Map<string, TopologyVertex[]>()
  for (const v of vertices.values()) if (isDomain(v)) groups.set(v.id ?? '', [])
  for (const v of vertices.values()) {
    if (v.kind === 'node' || isDomain(v)) continue
    const home = domainOf(v.id ?? '')
    groups.set(home, [...(groups.get(home) ?? []), v])
  }
  const drawing: Drawing = { width: 0, height: PAD, domains: [], devices: [], wires: (view.edges ?? []).filter((e: TopologyEdge) => e.kind !== 'contains').map((e) => ({ from: e.from ?? '', to: e.to ?? '', kind: e.kind ?? '', label: e.label })) }
  const width = columns * CELL.w + (columns - 1) * CELL.gap + 2 * PAD
  for (const [id, members] of groups) {
    const top = drawing.height
    let y = top + (id ? HEAD : PAD)
    // Each kind begins a line of its own, so that the drawing reads in columns.
    for (const kind of [...ORDER, ...new Set(members.map((m) => m.kind ?? '').filter((k) => !ORDER.includes(k)))]) {
      const row = members.filter((m) => m.kind === kind)
      row.forEach((m, i) => drawing.devices.push({ id: m.id ?? '', kind, label: m.label ?? m.id ?? '', x: 2 * PAD + (i % columns) * (CELL.w + CELL.gap), y: y + Math.floor(i / columns) * (CELL.h + CELL.gap), w: CELL.w, h: CELL.h }))
      y += Math.ceil(row.length / columns) * (CELL.h + CELL.gap)
    }
    const height = Math.max(y - top + PAD - CELL.gap, HEAD + PAD)
    if (id) drawing.domains.push({ id, kind: 'numa', label: vertices.get(id)?.label ?? id, x: PAD, y: top, w: width, h: height })
    drawing.height = top + height + 18
  }
  drawing.width = width + 2 * PAD
  return drawing
}
