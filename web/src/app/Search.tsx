// `/`: jobs by name or id, nodes, tenants. Arrows move, Enter opens, Esc closes.
import { useQuery } from '@tanstack/react-query'
import { Input } from 'antd'
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router-dom'
import { client, useCluster, useJobs, useTenants } from '../api/queries'
import { get } from '../api/client'
import type { NodeRow, Page } from '../api/types'
import { useText } from '../i18n'
import { State } from '../ui/State'

interface Hit { group: 'jobs' | 'nodes' | 'tenants'; key: string; to: string; text: string; more?: string; state?: string }

function useDebounced(text: string, ms: number) {
  const [late, set] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => set(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return late
}

// Node names, from what the heat map already has or one list.
const useNodeNames = (enabled: boolean) =>
  useQuery({
    queryKey: ['node-names'],
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<NodeRow[]>(['nodes', 'all'])
      const page = known ? { items: known, next: undefined } : await get<Page<NodeRow>>('/nodes', { limit: 1000 }, signal)
      return { rows: page.items.map((n) => ({ name: n.name, state: n.state })), all: !page.next }
    },
    staleTime: 60_000,
    enabled,
  })

function useHits(text: string): Hit[] {
  const { t } = useText()
  const jobs = useJobs({ name: text, limit: 8 }, text.length > 0)
  const nodes = useNodeNames(useCluster().data?.you?.role !== 'tenant')
  const tenants = useTenants()
  return useMemo(() => {
    if (!text) return []
    const has = (s?: string) => s?.toLowerCase().includes(text.toLowerCase())
    const hits: Hit[] = (jobs.data?.items ?? []).map((j) => ({ group: 'jobs', key: j.id, to: `/jobs/${encodeURIComponent(j.id)}`, text: j.name || j.id, more: j.id, state: j.state }))
    for (const n of (nodes.data?.rows ?? []).filter((n) => has(n.name)).slice(0, 6))
      hits.push({ group: 'nodes', key: n.name, to: `/nodes/${encodeURIComponent(n.name)}`, text: n.name, state: n.state })
    for (const x of (tenants.data?.items ?? []).filter((x) => has(x.path)).slice(0, 4))
      hits.push({ group: 'tenants', key: x.path!, to: `/jobs?tenant=${encodeURIComponent(x.path!)}`, text: x.path! })
    // A large cluster's nodes are not all at hand: the full name opens.
    if (nodes.data && !nodes.data.all && !hits.some((h) => h.key === text) && /^[A-Za-z0-9._:-]{3,128}$/.test(text))
      hits.push({ group: 'nodes', key: `open ${text}`, to: `/nodes/${encodeURIComponent(text)}`, text: t('search.nodeById', { id: text }) })
    // The list knows names and ids; a task_id of another system opens directly.
    if (hits.length === 0 && jobs.data && /^[A-Za-z0-9._:-]{4,128}$/.test(text))
      hits.push({ group: 'jobs', key: text, to: `/jobs/${encodeURIComponent(text)}`, text: t('search.byId', { id: text }) })
    return hits
  }, [text, jobs.data, nodes.data, tenants.data, t])
}

export function Search({ close }: { close: () => void }) {
  const { t } = useText()
  const navigate = useNavigate()
  const [typed, type] = useState('')
  const [at, move] = useState(0)
  const text = useDebounced(typed.trim(), 200)
  const hits = useHits(text)
  const dialog = useRef<HTMLDialogElement>(null)
  // The browser's own dialog: the focus goes in at once, stays in, and comes back.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const open = (hit?: Hit) => {
    if (!hit) return
    navigate(hit.to)
    close()
  }
  const key = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown') move((n) => Math.min(n + 1, hits.length - 1))
    else if (e.key === 'ArrowUp') move((n) => Math.max(n - 1, 0))
    else if (e.key === 'Enter') open(hits[at])
    else return
    e.preventDefault()
  }
  return (
    <dialog ref={dialog} className="search" aria-label={t('search.open')} onClose={close} onClick={(e) => e.target === dialog.current && close()}>
      <Input autoFocus size="middle" value={typed} placeholder={t('search.placeholder')} aria-label={t('search.open')} onKeyDown={key}
        onChange={(e) => { type(e.target.value); move(0) }} />
      <div className="hits" role="listbox" aria-label={t('search.open')}>
        {hits.map((hit, i) => (
          <div key={`${hit.group}${hit.key}`}>
            {(i === 0 || hits[i - 1].group !== hit.group) && <div className="faint small group">{t(`search.${hit.group}`)}</div>}
            <div role="option" aria-selected={i === at} className={i === at ? 'hit at' : 'hit'} onMouseEnter={() => move(i)} onClick={() => open(hit)}>
              <span className="clip">{hit.text}</span>
              {hit.more && hit.more !== hit.text && <span className="faint small mono">{hit.more}</span>}
              <span style={{ flex: 1 }} />
              {hit.state && <State state={hit.state} />}
            </div>
          </div>
        ))}
        {hits.length === 0 && <div className="faint small group">{text ? t('search.nothing', { text }) : t('search.help')}</div>}
      </div>
    </dialog>
  )
}
