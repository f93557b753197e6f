// Every question the console asks, with its cache key; and which events make which answers old.
import { QueryClient, keepPreviousData, useQuery } from '@tanstack/react-query'
import { setServerNow } from '../lib/clock'
import { ApiError, get, seg, type Query } from './client'
import type {
  ClusterView, EventView, JobMetrics, JobRow, JobView, NodeRow, NodeView, Page, QueueView, Tenant, TopologyView, Why,
} from './types'

export const LIVE_MS = 10_000 // live use is sampled, no event tells of it

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
})

export const useCluster = () =>
  useQuery({
    queryKey: ['cluster'],
    queryFn: async ({ signal }) => {
      const view = await get<ClusterView>('/cluster', undefined, signal)
      setServerNow(view.now)
      return view
    },
    refetchInterval: LIVE_MS,
  })

export const useJobs = (query: Query, enabled = true) =>
  useQuery({
    queryKey: ['jobs', query],
    queryFn: ({ signal }) => get<Page<JobRow>>('/jobs', query, signal),
    placeholderData: keepPreviousData,
    enabled,
  })

export const useJob = (id: string) =>
  useQuery({ queryKey: ['job', id], queryFn: ({ signal }) => get<JobView>(`/jobs/${seg(id)}`, undefined, signal) })

export const useWhy = (id: string, enabled: boolean) =>
  useQuery({ queryKey: ['job', id, 'why'], queryFn: ({ signal }) => get<Why>(`/jobs/${seg(id)}/why`, { nodes: 'true' }, signal), enabled, refetchInterval: LIVE_MS })

export const useJobEvents = (id: string) =>
  useQuery({
    queryKey: ['job', id, 'events'],
    queryFn: async ({ signal }) => {
      const rows: EventView[] = []
      for (let cursor: string | undefined; ; ) {
        const page: Page<EventView> = await get<Page<EventView>>(`/jobs/${seg(id)}/events`, { limit: 1000, cursor }, signal)
        rows.push(...page.items)
        if (!(cursor = page.next) || rows.length >= 5000) return rows
      }
    },
  })

export const useJobMetrics = (id: string, live: boolean) =>
  useQuery({
    queryKey: ['metrics', id],
    queryFn: ({ signal }) => get<JobMetrics>(`/jobs/${seg(id)}/metrics`, undefined, signal),
    refetchInterval: live ? LIVE_MS : false,
  })

export const useNodes = (query: Query) =>
  useQuery({
    queryKey: ['nodes', query],
    queryFn: ({ signal }) => get<Page<NodeRow>>('/nodes', query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  })

// All nodes, page by page: the heat map.
export async function allNodes(signal?: AbortSignal): Promise<NodeRow[]> {
  const rows: NodeRow[] = []
  let cursor: string | undefined
  do {
    const page: Page<NodeRow> = await get<Page<NodeRow>>('/nodes', { limit: 500, cursor }, signal)
    rows.push(...page.items)
    cursor = page.next
  } while (cursor)
  return rows
}
export const useAllNodes = () =>
  useQuery({
    queryKey: ['nodes', 'all'],
    queryFn: ({ signal }) => allNodes(signal),
    staleTime: LIVE_MS,
    // Ten seconds while that is a small answer, less often for a large cluster.
    refetchInterval: (query) => Math.max(LIVE_MS, (query.state.data?.length ?? 0) * 12),
  })

export const useNode = (name: string) =>
  useQuery({
    queryKey: ['node', name],
    queryFn: ({ signal }) => get<NodeView>(`/nodes/${seg(name)}`, undefined, signal),
    refetchInterval: LIVE_MS,
  })

export const useTopology = (name: string) =>
  useQuery({
    queryKey: ['topology', name],
    queryFn: ({ signal }) => get<TopologyView>(`/nodes/${seg(name)}/topology`, undefined, signal),
    staleTime: 600_000,
  })

export const useQueues = () =>
  useQuery({ queryKey: ['queues'], queryFn: ({ signal }) => get<Page<QueueView>>('/queues', { limit: 1000 }, signal) })

// A tenant's token may not list tenants and nodes.
export function useTenants() {
  const role = useCluster().data?.you?.role
  return useQuery({
    queryKey: ['tenants'],
    queryFn: ({ signal }) => get<Page<Tenant>>('/tenants', { limit: 1000 }, signal),
    staleTime: 60_000,
    enabled: role !== 'tenant',
  })
}

// The events of a second → the answers they make old. Only what is on the screen is fetched again.
export function staleKeys(events: EventView[]): string[][] {
  const keys = new Map<string, string[]>()
  const add = (...key: string[]) => keys.set(key.join('\0'), key)
  for (const event of events) {
    if (event.kind === 'job') {
      add('jobs')
      if (event.subject) add('job', event.subject)
      add('queues')
      add('cluster')
      add('node')
    } else if (event.kind === 'node') {
      add('nodes')
      if (event.subject) add('node', event.subject)
      add('cluster')
    } else if (event.kind === 'queue') {
      add('queues')
      add('cluster')
    } else add('cluster')
  }
  return [...keys.values()]
}

const last = new Map<string, number>()
const waiting = new Map<string, ReturnType<typeof setTimeout>>()

// At most one refetch of one answer in two seconds.
export function invalidate(key: string[], everyMs = 2_000): void {
  const name = key.join('\0')
  if (waiting.has(name)) return
  const go = () => {
    waiting.delete(name)
    last.set(name, Date.now())
    void client.invalidateQueries({ queryKey: key }, { cancelRefetch: false })
  }
  const due = (last.get(name) ?? 0) + everyMs - Date.now()
  if (due <= 0) go()
  else waiting.set(name, setTimeout(go, due))
}
