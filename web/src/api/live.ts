// One event stream per tab. It reads with fetch (EventSource cannot send a bearer token), reconnects after the last event seen,
// rests while the tab is hidden, and hands events on in batches, so that a burst makes one refetch.
import { useSyncExternalStore } from 'react'
import { open } from './client'
import { SseParser } from './sse'
import type { EventView } from './types'

export interface LiveState {
  status: 'off' | 'connecting' | 'open' | 'lost'
  since: number // when `status` was entered, by this machine's clock
}

const QUIET_MS = 45_000 // nothing at all for so long, not even a comment: connect anew
const HIDDEN_MS = 60_000
const BATCH_MS = 1_000

let state: LiveState = { status: 'off', since: Date.now() }
const watchers = new Set<() => void>()
const takers = new Set<(events: EventView[], resumed: boolean) => void>()

let run: AbortController | null = null
let lastId: string | undefined
let pending: EventView[] = []
let resumed = false
let batch: ReturnType<typeof setTimeout> | undefined
let hidden: ReturnType<typeof setTimeout> | undefined

function enter(status: LiveState['status']): void {
  if (state.status === status) return
  state = { status, since: Date.now() }
  watchers.forEach((tell) => tell())
}

function flush(): void {
  batch = undefined
  const events = pending
  const again = resumed
  pending = []
  resumed = false
  takers.forEach((take) => take(events, again))
}

function schedule(): void {
  batch ??= setTimeout(flush, BATCH_MS)
}

async function read(control: AbortController): Promise<void> {
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  control.signal.addEventListener('abort', stop)
  let quiet = setTimeout(stop, QUIET_MS)
  try {
    const response = await open('/events', undefined, {
      signal: attempt.signal,
      headers: { Accept: 'text/event-stream', ...(lastId ? { 'Last-Event-ID': lastId } : {}) },
    })
    const again = state.status === 'lost'
    enter('open')
    if (again) {
      resumed = true
      schedule()
    }
    const parser = new SseParser((event) => {
      if (event.id) lastId = event.id
      // What happened meanwhile is no longer kept: everything may be old.
      if (event.event === 'reset') {
        resumed = true
        return schedule()
      }
      try {
        pending.push(JSON.parse(event.data) as EventView)
        schedule()
      } catch {
        // Not an event of ours.
      }
    })
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(quiet)
      quiet = setTimeout(stop, QUIET_MS)
      parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    clearTimeout(quiet)
    control.signal.removeEventListener('abort', stop)
  }
}

async function loop(control: AbortController): Promise<void> {
  let wait = 1_000
  while (!control.signal.aborted) {
    const started = Date.now()
    try {
      await read(control)
    } catch (error) {
      if ((error as { status?: number }).status === 401) break
    }
    if (control.signal.aborted) break
    enter('lost')
    if (Date.now() - started > 20_000) wait = 1_000
    await new Promise((done) => setTimeout(done, wait))
    wait = Math.min(wait * 2, 10_000)
  }
}

export function startLive(): void {
  if (run) return
  run = new AbortController()
  if (state.status !== 'lost') enter('connecting')
  void loop(run)
}

export function stopLive(): void {
  run?.abort()
  run = null
  enter('off')
}

// The stream rests while nobody looks, and leaves the browser's few connections to other tabs.
export function followVisibility(): () => void {
  const changed = () => {
    clearTimeout(hidden)
    if (document.hidden) hidden = setTimeout(() => { run?.abort(); run = null }, HIDDEN_MS)
    else if (!run && state.status !== 'off') {
      resumed = true
      schedule()
      startLive()
    }
  }
  document.addEventListener('visibilitychange', changed)
  return () => {
    clearTimeout(hidden)
    document.removeEventListener('visibilitychange', changed)
  }
}

export function onEvents(take: (events: EventView[], resumed: boolean) => void): () => void {
  takers.add(take)
  return () => takers.delete(take)
}

export function useLive(): LiveState {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
    () => state,
  )
}
