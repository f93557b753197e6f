// Requests with the token; failures become ApiError with the API's code, message, field and hint.
import { apiBase } from './base'
import { getToken } from './token'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}

export type Query = Record<string, string | number | boolean | undefined | null>

let onUnauthenticated: () => void = () => {}
export function whenUnauthenticated(tell: () => void): void {
  onUnauthenticated = tell
}

export function url(path: string, query?: Query): string {
  const text = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null && value !== '') text.set(key, String(value))
  const search = text.toString()
  return apiBase(location.pathname) + path + (search ? `?${search}` : '')
}

export function headers(extra?: Record<string, string>): Record<string, string> {
  const token = getToken()
  return { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...extra }
}

async function failure(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { error?: Record<string, string> } | null
  const e = body?.error
  return new ApiError(response.status, e?.code ?? 'http', e?.message ?? `HTTP ${response.status}`, e?.field, e?.hint)
}

export async function open(path: string, query?: Query, init?: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url(path, query), { ...init, headers: headers(init?.headers as Record<string, string>) })
  } catch (cause) {
    if ((cause as Error).name === 'AbortError') throw cause
    throw new ApiError(0, 'unreachable', String((cause as Error).message))
  }
  if (response.status === 401) onUnauthenticated()
  if (!response.ok) throw await failure(response)
  return response
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await (await open(path, query, { signal })).json()) as T
}

export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')
}

// `key` makes a repeated POST one change (Idempotency-Key).
export async function post<T>(path: string, body: unknown, options?: { key?: string; signal?: AbortSignal }): Promise<T> {
  const response = await open(path, undefined, {
    method: 'POST',
    body: JSON.stringify(body ?? {}),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': options?.key ?? newKey() },
    signal: options?.signal,
  })
  const text = await response.text()
  return (text ? JSON.parse(text) : undefined) as T
}

export const seg = encodeURIComponent
