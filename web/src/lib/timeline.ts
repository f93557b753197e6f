// A job's history as segments of a bar.
import type { StateChange } from '../api/types'
import { ended } from './states'

export interface Segment { state: string; reason?: string; detail?: string; from: number; to: number; open: boolean; width: number }

// Widths follow time, but no segment is narrower than `least` percent, so that short states can be seen and pointed at.
export function segments(timeline: StateChange[], now: number, least = 2.5): Segment[] {
  const steps = timeline.filter((s) => s.at && s.state)
  const list: Segment[] = []
  steps.forEach((step, i) => {
    const from = Date.parse(step.at!)
    const next = steps[i + 1]
    if (!next && ended(step.state)) return
    const to = next ? Date.parse(next.at!) : Math.max(now, from)
    list.push({ state: step.state!, reason: step.reason, detail: step.detail, from, to, open: !next, width: 0 })
  })
  const total = list.reduce((sum, s) => sum + (s.to - s.from), 0)
  const raw = list.map((s) => (total > 0 ? (100 * (s.to - s.from)) / total : 100 / list.length))
  const small = raw.filter((w) => w < least).length
  const room = 100 - small * least
  const big = raw.filter((w) => w >= least).reduce((a, b) => a + b, 0)
  list.forEach((s, i) => { s.width = raw[i] < least ? least : (raw[i] * room) / (big || 1) })
  return list
}
