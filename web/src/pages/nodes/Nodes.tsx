// All nodes: state, bars, labels. The server pages.
import { LeftOutlined, RightOutlined, VerticalRightOutlined } from '@ant-design/icons'
import { Button, Select, Table, Tag } from 'antd'
import type { ColumnType } from 'antd/es/table'
import { useMemo } from 'react'
import { Link } from 'react-router-dom'
import { useNodes } from '../../api/queries'
import type { NodeRow, ResourceBars } from '../../api/types'
import { useText, type Text } from '../../i18n'
import { NODE_STATES } from '../../lib/states'
import { useHeight } from '../../lib/useHeight'
import { useUrlState } from '../../lib/urlState'
import { useTitle } from '../../lib/useTitle'
import { CellBar } from '../../ui/Bar'
import { Bones, Empty, Failure, NodeLink } from '../../ui/parts'
import { rowKeys } from '../../ui/rowKeys'
import { Marks, State } from '../../ui/State'
import { Ago } from '../../ui/Time'
import { Labels } from './Labels'

const LIMIT = 100
const before = new Map<string, string | undefined>()

function cardsOf(node: NodeRow): string {
  const models = new Map<string, number>()
  for (const card of node.cards ?? []) models.set(card.model ?? '?', (models.get(card.model ?? '?') ?? 0) + 1)
  return [...models].map(([model, n]) => `${n} × ${model}`).join(', ')
}

function nodeColumns({ t, f }: Text): ColumnType<NodeRow>[] {
  const bar = (key: keyof ResourceBars, title: string, show: (n: number) => string): ColumnType<NodeRow> =>
    ({ key, title, width: 110, render: (_, n) => <CellBar name={title} amounts={n.resources?.[key]} show={show} /> })
  const count = (n: number) => f.number(n, 1)
  return [
    { key: 'name', title: t('nodes.name'), width: 165, render: (_, n) => <><NodeLink name={n.name} /> <Marks simulated={n.simulated} /></> },
    { key: 'state', title: t('nodes.state'), width: 100, render: (_, n) => <span title={n.detail}><State state={n.state} /></span> },
    { key: 'cards', title: t('nodes.model'), width: 165, ellipsis: true, render: (_, n) => cardsOf(n) || <span className="faint">–</span> },
    bar('gpu', t('nodes.gpu'), count),
    bar('gpu_memory_mib', t('nodes.gpuMemory'), f.mib),
    bar('cpu', t('nodes.cpu'), count),
    bar('memory_bytes', t('nodes.memory'), f.bytes),
    bar('disk_bytes', t('nodes.disk'), f.bytes),
    { key: 'tasks', title: t('nodes.tasks'), width: 58, align: 'right', render: (_, n) => f.whole(n.tasks) },
    { key: 'heartbeat', title: t('nodes.heartbeat'), width: 95, render: (_, n) => <Ago at={n.last_heartbeat} /> },
    { key: 'labels', title: t('nodes.labels'), width: 250, ellipsis: true, render: (_, n) => <Labels labels={n.labels} short /> },
  ]
}

export default function Nodes() {
  const text = useText()
  const { t, f } = text
  const { get, set } = useUrlState()
  const cursor = get('cursor') || undefined
  const from = Number(get('from') || 0)
  const state = get('state')
  const label = get('label')
  const { data, error, refetch, isPlaceholderData } = useNodes({ state, label, limit: LIMIT, cursor })
  const { ref, height } = useHeight<HTMLDivElement>(76)
  const columns = useMemo(() => nodeColumns(text), [text.language]) // eslint-disable-line
  const rows = data?.items ?? []
  useTitle(t('nodes.title'))
  const total = data?.total ?? rows.length
  return (
    <>
      <div className="head">
        <h1>{t('nodes.title')}</h1>
        <span className="faint">{data && t('nodes.total', { count: total })}</span>
        <span className="space" />
        {label && <Tag closable onClose={() => set({ label: undefined, cursor: undefined, from: undefined })}>{label}</Tag>}
        <Select allowClear style={{ minWidth: 120 }} placeholder={t('nodes.state')} aria-label={t('nodes.state')} value={state || undefined}
          onChange={(v?: string) => set({ state: v, cursor: undefined, from: undefined })} options={NODE_STATES.map((value) => ({ value, label: <State state={value} /> }))} />
        <Link to="/heatmap"><Button>{t('nav.heatmap')}</Button></Link>
      </div>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <div className="panel"><div className="body"><Bones rows={14} /></div></div>}
      {data && rows.length === 0 && <div className="panel">{state || label ? <Empty text={t('nodes.emptyFiltered')} /> : <Empty text={t('nodes.empty')} command="crater-agent --config /etc/crater/agent.yaml" />}</div>}
      {data && rows.length > 0 && (
        <div className="panel table" ref={ref} onKeyDown={rowKeys} style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
          <Table<NodeRow> size="small" rowKey="name" dataSource={rows} columns={columns} pagination={false} virtual scroll={{ x: 1390, y: height }} onRow={() => ({ tabIndex: 0 })} />
          <div className="row pager">
            <span className="faint">{t('jobs.page', { from: f.whole(from + 1), to: f.whole(from + rows.length), total: f.whole(total) })}</span>
            <span className="space" />
            <Button icon={<VerticalRightOutlined />} disabled={!cursor} title={t('jobs.first')} aria-label={t('jobs.first')} onClick={() => set({ cursor: undefined, from: undefined })} />
            <Button icon={<LeftOutlined />} disabled={!cursor} title={t('jobs.prev')} aria-label={t('jobs.prev')} onClick={() => set({ cursor: before.get(cursor ?? ''), from: before.get(cursor ?? '') ? String(Math.max(0, from - LIMIT)) : undefined })} />
            <Button icon={<RightOutlined />} disabled={!data.next} title={t('jobs.next')} aria-label={t('jobs.next')} onClick={() => { before.set(data.next!, cursor); set({ cursor: data.next, from: String(from + rows.length) }) }} />
          </div>
        </div>
      )}
    </>
  )
}
