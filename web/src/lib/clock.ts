// The scheduler's clock, as seen from here, and one tick a second for everything that shows a relative time.
import { useSyncExternalStore } from 'react'

let offset = 0
export function setServerNow(now?: string): void {
  const at = now ? Date.parse(now) : NaN
  // Below a few seconds it is only the answer's travel.
  if (!Number.isNaN(at)) offset = Math.abs(at - Date.now()) > 3_000 ? at - Date.now() : 0
}
export const serverNow = () => Date.now() + offset

let tick = Math.floor(Date.now() / 1000)
let timer: ReturnType<typeof setInterval> | undefined
const watchers = new Set<() => void>()
function watch(tell: () => void): () => void {
  watchers.add(tell)
  timer ??= setInterval(() => {
    tick = Math.floor(Date.now() / 1000)
    watchers.forEach((t) => t())
  }, 1000)
  return () => {
    watchers.delete(tell)
    if (watchers.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

// The scheduler's time now in ms, renewed about every `stepSeconds`.
export function useNow(stepSeconds = 1): number {
  const step = useSyncExternalStore(watch, () => Math.floor(tick / stepSeconds))
  void step
  return serverNow()
}
