// Samples → lines of a chart. Byte counters become rates.
import type { MetricPoint, TaskSeries } from '../api/types'

export type Key = 'cpu_cores' | 'memory_bytes' | 'gpu_percent' | 'gpu_memory_mib'
const at = (p: MetricPoint) => Date.parse(p.at ?? '')

export const levels = (s: TaskSeries, key: Key): [number, number][] => (s.points ?? []).map((p) => [at(p), p[key] ?? 0])

export function rates(s: TaskSeries, key: 'read_bytes' | 'write_bytes'): [number, number][] {
  const points = s.points ?? []
  const out: [number, number][] = []
  for (let i = 1; i < points.length; i++) {
    const seconds = (at(points[i]) - at(points[i - 1])) / 1000
    const delta = (points[i][key] ?? 0) - (points[i - 1][key] ?? 0)
    // A counter that falls began anew with a new start of the task.
    if (seconds > 0 && delta >= 0) out.push([at(points[i]), delta / seconds])
  }
  return out
}
