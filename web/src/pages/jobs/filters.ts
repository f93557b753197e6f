// The job list's address ↔ the API's query.
import type { Query } from '../../api/client'
// In the address `state`, as the column is called; the API's parameter is `status`.
export const FILTERS = ['state', 'queue', 'tenant', 'user', 'type', 'node', 'name', 'since'] as const
const PARAMETER: Record<string, string> = { state: 'status' }
export const SINCE: Record<string, string> = { h1: '1h', d1: '24h', d7: '168h' }

export function apiQuery(params: URLSearchParams): Query {
  const query: Query = {}
  for (const key of FILTERS) query[PARAMETER[key] ?? key] = params.get(key) ?? undefined
  query.since = SINCE[String(query.since)] ?? query.since
  query.sort = params.get('sort') ?? undefined
  return query
}

export const filtered = (params: URLSearchParams) => FILTERS.some((key) => params.get(key))
