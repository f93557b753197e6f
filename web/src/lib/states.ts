// The six meanings that colours have, and which job and node states carry which.
export type Tone = 'waiting' | 'preparing' | 'running' | 'done' | 'failed' | 'held'

// The API writes "Pending" and reads "pending": inside the console names are lower case.
export const lower = (state?: string) => (state ?? '').toLowerCase()

export const JOB_STATES = [
  'pending', 'preparing', 'ready', 'running', 'preempting', 'preempted', 'finished', 'failed', 'cancelled', 'evicted', 'lost',
] as const
export const NODE_STATES = ['up', 'draining', 'lost'] as const

const TONES: Record<string, Tone> = {
  pending: 'waiting', preempted: 'waiting',
  preparing: 'preparing', ready: 'preparing',
  running: 'running', up: 'running',
  finished: 'done', cancelled: 'done',
  failed: 'failed', evicted: 'failed',
  preempting: 'held', draining: 'held', lost: 'held', unhealthy: 'held',
}
export const toneOf = (state?: string): Tone => TONES[lower(state)] ?? 'waiting'

const ENDED = new Set(['finished', 'failed', 'cancelled', 'evicted'])
export const ended = (state?: string) => ENDED.has(lower(state))
const HOLDS = new Set(['preparing', 'ready', 'running', 'preempting', 'lost'])
export const holds = (state?: string) => HOLDS.has(lower(state))

// Safe for colour-blind eyes (after Okabe and Ito), dark enough on white and light enough on black.
export const TONE_COLOURS: Record<'light' | 'dark', Record<Tone, string>> = {
  light: { waiting: '#a86a00', preparing: '#2b86c5', running: '#00795a', done: '#667080', failed: '#c4401a', held: '#8f4a86' },
  dark: { waiting: '#e3a63a', preparing: '#5fb4ee', running: '#35b48c', done: '#98a2b1', failed: '#f0764e', held: '#cf8fc6' },
}
