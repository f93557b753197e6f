// Where each card of each node is drawn: groups of nodes, each node a row of cards, rows flowing in columns. Pure arithmetic, so that
// 5,000 nodes cost nothing to point at.
import type { NodeRow } from '../../api/types'

export interface Group { name: string; nodes: NodeRow[]; top: number; height: number; columns: number; columnWidth: number }
export interface Layout { groups: Group[]; size: number; labels: boolean; rowHeight: number; labelWidth: number; width: number; height: number; cards: number }

export const SIZES = [5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 22, 28, 36]
const GAP = 1
const COLUMN_GAP = 10
const HEAD = 26
const LABEL = 132

export function groupsOf(nodes: NodeRow[], by: string): [string, NodeRow[]][] {
  const groups = new Map<string, NodeRow[]>()
  for (const node of nodes) {
    const name = by === '' ? '' : by === 'model' ? (node.cards?.[0]?.model ?? '') : by === 'state' ? node.state : (node.labels?.[by] ?? '–')
    const list = groups.get(name)
    if (list) list.push(node)
    else groups.set(name, [node])
  }
  return [...groups].sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }))
}

export function place(grouped: [string, NodeRow[]][], size: number, width: number): Layout {
  const labels = size >= 16
  const labelWidth = labels ? LABEL : 0
  const rowHeight = size + (labels ? 4 : 3)
  let top = 0
  let cards = 0
  const groups = grouped.map(([name, nodes]) => {
    const widest = Math.max(1, ...nodes.map((n) => n.cards?.length ?? 0))
    for (const n of nodes) cards += n.cards?.length ?? 0
    const columnWidth = labelWidth + widest * (size + GAP) + COLUMN_GAP
    const columns = Math.max(1, Math.floor((width + COLUMN_GAP) / columnWidth))
    const height = (name ? HEAD : 4) + Math.ceil(nodes.length / columns) * rowHeight + 8
    const group = { name, nodes, top, height, columns, columnWidth }
    top += height
    return group
  })
  return { groups, size, labels, rowHeight, labelWidth, width, height: top, cards }
}

// The largest size at which all fits the window.
export function autoSize(grouped: [string, NodeRow[]][], width: number, height: number): number {
  for (let i = SIZES.length - 1; i >= 0; i--) if (place(grouped, SIZES[i], width).height <= height) return SIZES[i]
  return SIZES[0]
}

export interface Spot { group: number; node: number; card: number }

export const headOf = (group: Group) => (group.name ? HEAD : 4)

export function corner(layout: Layout, spot: Spot): { x: number; y: number } {
  const g = layout.groups[spot.group]
  return {
    x: (spot.node % g.columns) * g.columnWidth + layout.labelWidth + spot.card * (layout.size + GAP),
    y: g.top + headOf(g) + Math.floor(spot.node / g.columns) * layout.rowHeight,
  }
}

// What lies at a point; card -1 is the node's label.
export function spotAt(layout: Layout, x: number, y: number): Spot | null {
  const group = layout.groups.findIndex((g) => y >= g.top && y < g.top + g.height)
  if (group < 0) return null
  const g = layout.groups[group]
  const row = Math.floor((y - g.top - headOf(g)) / layout.rowHeight)
  const column = Math.floor(x / g.columnWidth)
  if (row < 0 || column < 0 || column >= g.columns) return null
  const node = row * g.columns + column
  if (node >= g.nodes.length) return null
  const inside = x - column * g.columnWidth - layout.labelWidth
  const card = inside < 0 ? -1 : Math.floor(inside / (layout.size + GAP))
  return card >= (g.nodes[node].cards?.length ?? 0) ? null : { group, node, card }
}

// The neighbour in a direction, for the arrow keys.
export function step(layout: Layout, from: Spot | null, key: string): Spot | null {
  if (!from) return layout.groups.length > 0 ? { group: 0, node: 0, card: 0 } : null
  let { group, node, card } = from
  const g = layout.groups[group]
  card = Math.max(0, card)
  if (key === 'ArrowRight') {
    if (card + 1 < (g.nodes[node].cards?.length ?? 0)) card++
    else if (node + 1 < g.nodes.length) { node++; card = 0 }
  } else if (key === 'ArrowLeft') {
    if (card > 0) card--
    else if (node > 0) { node--; card = (g.nodes[node].cards?.length ?? 1) - 1 }
  } else if (key === 'ArrowDown') {
    if (node + g.columns < g.nodes.length) node += g.columns
    else if (group + 1 < layout.groups.length) { group++; node = Math.min(node % g.columns, layout.groups[group].nodes.length - 1) }
  } else if (key === 'ArrowUp') {
    if (node - g.columns >= 0) node -= g.columns
    else if (group > 0) {
      const up = layout.groups[--group]
      const last = up.nodes.length - 1
      node = Math.min(last, last - (last % up.columns) + (from.node % up.columns))
    }
  }
  return { group, node, card: Math.min(card, (layout.groups[group].nodes[node].cards?.length ?? 1) - 1) }
}
