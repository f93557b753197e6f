import { expect, test } from 'vitest'
import { autoSize, corner, groupsOf, place, spotAt, step } from '../src/pages/heatmap/layout'

const nodes = Array.from({ length: 5000 }, (_, i) => ({
  name: `n${i}`, state: 'up', labels: { zone: `z${i % 4}` }, cards: Array.from({ length: i % 3 === 0 ? 4 : 8 }, (_, index) => ({ index })),
}))
const grouped = groupsOf(nodes, 'zone')

test('every card of 5,000 nodes is found again at its place', () => {
  for (const size of [5, 16]) {
    const layout = place(grouped, size, 1380)
    expect(layout.cards).toBe(nodes.reduce((n, x) => n + x.cards.length, 0))
    layout.groups.forEach((g, group) => {
      for (let node = 0; node < g.nodes.length; node += 7) {
        const card = g.nodes[node].cards!.length - 1
        const { x, y } = corner(layout, { group, node, card })
        expect(spotAt(layout, x + 1, y + 1)).toEqual({ group, node, card })
        expect(x + size).toBeLessThanOrEqual(1380)
      }
    })
  }
})

test('few nodes are drawn large, many small', () => {
  expect(autoSize(groupsOf(nodes.slice(0, 8), ''), 1380, 700)).toBe(36)
  expect(autoSize(grouped, 1380, 700)).toBe(5)
})

test('arrow keys reach every neighbour and stop at the edges', () => {
  const layout = place(grouped, 16, 1380)
  let at = step(layout, null, 'ArrowDown')
  expect(at).toEqual({ group: 0, node: 0, card: 0 })
  expect(step(layout, at, 'ArrowLeft')).toEqual(at)
  expect(step(layout, at, 'ArrowUp')).toEqual(at)
  for (let i = 0; i < 3000; i++) at = step(layout, at, 'ArrowDown')
  expect(at!.group).toBe(layout.groups.length - 1)
  expect(layout.groups[at!.group].nodes[at!.node]).toBeDefined()
})
