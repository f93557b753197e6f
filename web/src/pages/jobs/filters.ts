// The job list's address ↔ the API's query.
import type { Query } from '../../api/client'
import { serverNow } from '../../lib/clock'

export const FILTERS = ['state', 'queue', 'tenant', 'user', 'name', 'since'] as const
export const SINCE: Record<string, number> = { h1: 3_600_000, d1: 86_400_000, d7: 604_800_000 }

export function apiQuery(params: URLSearchParams): Query {
  const query: Query = {}
  for (const key of FILTERS) query[key] = params.get(key) ?? undefined
  // "Last hour" in steps of a minute, so that the answer can be kept.
  const span = SINCE[String(query.since)]
  if (span) query.since = new Date(Math.floor((serverNow() - span) / 60_000) * 60_000).toISOString()
  query.sort = params.get('sort') ?? '-submitted'
  return query
}

export const filtered = (params: URLSearchParams) => FILTERS.some((key) => params.get(key))
