// A topology graph as boxes in boxes: node ⊃ NUMA domains ⊃ devices. Pure layout, drawn by pages/node/Topology.tsx.
import type { TopologyEdge, TopologyVertex, TopologyView } from '../api/types'

export interface Box { id: string; kind: string; label: string; x: number; y: number; w: number; h: number }
export interface Wire { from: string; to: string; kind: string; label?: string }
// Two or more cards that are all linked to each other: drawn as one bus, not as a net.
export interface Bus { ids: string[]; label?: string }
export interface Drawing { width: number; height: number; domains: Box[]; devices: Box[]; wires: Wire[]; buses: Bus[] }

const CELL = { w: 150, h: 30, gap: 8 }
const PAD = 12
const HEAD = 38
export const BUS = 8 // above its cards
const ORDER = ['gpu', 'disk', 'nic']

export function busesOf(wires: Wire[]): { buses: Bus[]; rest: Wire[] } {
  const links = wires.filter((w) => w.kind === 'nvlink')
  const peers = new Map<string, Set<string>>()
  for (const { from, to } of links) {
    peers.set(from, (peers.get(from) ?? new Set()).add(to))
    peers.set(to, (peers.get(to) ?? new Set()).add(from))
  }
  const buses: Bus[] = []
  const taken = new Set<string>()
  for (const [id, others] of peers) {
    const all = [id, ...others]
    if (taken.has(id) || all.length < 2 || !all.every((a) => all.every((b) => a === b || peers.get(a)?.has(b)) && peers.get(a)!.size === others.size)) continue
    all.forEach((a) => taken.add(a))
    buses.push({ ids: all, label: links.find((w) => w.from === id || w.to === id)?.label })
  }
  return { buses, rest: wires.filter((w) => w.kind !== 'nvlink' || !taken.has(w.from)) }
}

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
  const wires = (view.edges ?? []).filter((e: TopologyEdge) => e.kind !== 'contains').map((e) => ({ from: e.from ?? '', to: e.to ?? '', kind: e.kind ?? '', label: e.label }))
  const { buses, rest } = busesOf(wires)
  const drawing: Drawing = { width: 0, height: PAD, domains: [], devices: [], wires: rest, buses }
  const width = columns * CELL.w + (columns - 1) * CELL.gap + 2 * PAD
  for (const [id, members] of groups) {
    const top = drawing.height
    let y = top + HEAD
    // Each kind begins a line of its own, so that the drawing reads in columns.
    for (const kind of [...ORDER, ...new Set(members.map((m) => m.kind ?? '').filter((k) => !ORDER.includes(k)))]) {
      const row = members.filter((m) => m.kind === kind)
      row.forEach((m, i) => drawing.devices.push({ id: m.id ?? '', kind, label: m.label ?? m.id ?? '', x: 2 * PAD + (i % columns) * (CELL.w + CELL.gap), y: y + Math.floor(i / columns) * (CELL.h + CELL.gap), w: CELL.w, h: CELL.h }))
      y += Math.ceil(row.length / columns) * (CELL.h + CELL.gap)
    }
    const height = Math.max(y - top + PAD - CELL.gap, HEAD + PAD)
    drawing.domains.push({ id, kind: id ? 'numa' : 'none', label: vertices.get(id)?.label ?? id, x: PAD, y: top, w: width, h: height })
    drawing.height = top + height + 18
  }
  drawing.width = width + 2 * PAD
  return drawing
}
