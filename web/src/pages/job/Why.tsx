// Why a job waits: the binding constraint as a bar, who holds it, node by node.
import type { UseQueryResult } from '@tanstack/react-query'
import { Input, Table } from 'antd'
import { useState } from 'react'
import type { JobView, Requirement, Why } from '../../api/types'
import { useText } from '../../i18n'
import { amount, resourceName } from '../../lib/words'
import { Bones, Failure, JobLink, NodeLink, Panel } from '../../ui/parts'
import { CheckCircleFilled } from '@ant-design/icons'

function Needs({ r }: { r: Requirement }) {
  const text = useText()
  const { t } = text
  const scale = Math.max(r.needs ?? 0, r.best_total ?? 0, r.best_has ?? 0, 1e-9)
  const has = ((r.best_has ?? 0) / scale) * 100
  const needs = ((r.needs ?? 0) / scale) * 100
  const short = (r.best_has ?? 0) < (r.needs ?? 0)
  const needed = amount(r.needs, r.unit, text)
  const best = amount(r.best_has, r.unit, text)
  return (
    <div className={r.binding ? 'need binding' : 'need'}>
      <div className="row">
        <strong>{resourceName(r.name, text)}</strong>
        {r.binding && <span className="mark advisory">{t('job.binding')}</span>}
        <span className="space" />
        <span className={short ? 'tone-failed' : 'soft'}>{r.nodes_short ? t('job.short', { count: r.nodes_short }) : t('job.enough')}</span>
      </div>
      <div className="track" role="img" aria-label={`${t('job.needs', { n: needed })}, ${t('job.best', { n: best, total: amount(r.best_total, r.unit, text) })}`}>
        <i className={short ? 'lack' : ''} style={{ width: `${has}%` }} />
        <b style={{ left: `calc(${Math.min(needs, 100)}% - 2px)` }} />
      </div>
      <div className="row small">
        <span>{t('job.needs', { n: needed })}</span>
        <span className="space" />
        <span className="soft"><NodeLink name={r.best_node} /> {t('job.best', { n: best, total: amount(r.best_total, r.unit, text) })}</span>
      </div>
    </div>
  )
}

function NodeByNode({ why }: { why: Why }) {
  const text = useText()
  const { t, f } = text
  const [word, find] = useState('')
  const rows = (why.nodes ?? []).filter((n) => !word || [n.node, n.filter, n.detail].some((x) => x?.includes(word)))
  return (
    <Panel title={`${t('job.nodeByNode')} · ${f.whole(why.nodes?.length)}`} flush extra={<Input allowClear style={{ width: 170 }} placeholder={t('job.filterNodes')} aria-label={t('job.filterNodes')} value={word} onChange={(e) => find(e.target.value)} />}>
      <Table className="no-x" size="small" virtual pagination={false} scroll={{ x: 640, y: Math.min(320, 34 + rows.length * 33) }} rowKey="node" dataSource={rows}
        columns={[
          { key: 'node', title: t('word.node'), width: 170, render: (_, n) => <NodeLink name={n.node} /> },
          { key: 'filter', title: t('job.verdict'), width: 170, render: (_, n) => (n.filter ? resourceName(n.filter, text) : <span className="state"><CheckCircleFilled className="tone-running" />{t('job.nodeFits')}</span>) },
          { key: 'detail', title: t('job.detail'), width: 300, ellipsis: true, render: (_, n) => <span className="soft" title={n.detail}>{n.detail}</span> },
        ]} />
    </Panel>
  )
}

// Between when and when it is likely to start; one time where the two read the same.
export function Expected({ why }: { why: Why }) {
  const { t, f } = useText()
  const { estimate } = why
  if (!estimate?.p50) return why.no_estimate ? <p className="soft" style={{ margin: '0 0 8px' }} title={why.no_estimate}>{t('job.expectedUnknown')}</p> : null
  const from = f.exact(estimate.p50)
  const to = f.exact(estimate.p90 ?? estimate.p50)
  return <p style={{ margin: '0 0 8px' }} title={estimate.basis}>{from === to ? t('job.expectedAt', { from }) : t('job.expected', { from, to })}</p>
}

// What would start it now, each the smallest change of its kind.
function Changes({ why }: { why: Why }) {
  const text = useText()
  const { t } = text
  return (
    <Panel title={t('job.changes')} flush>
      <table className="plain"><tbody>
        {why.changes!.map((c) => (
          <tr key={c.kind}>
            <td className="nowrap">{t(`job.change.${c.kind}`)}</td>
            <td className="num nowrap">{c.kind === 'job_end' ? <JobLink id={c.value ?? ''} /> : c.value ? c.value : amount(c.to, c.unit, text)}</td>
            <td className="soft">{c.from ? t('job.insteadOf', { n: amount(c.from, c.unit, text) }) : c.kind === 'job_end' ? t('job.endsFirst') : ''}</td>
          </tr>
        ))}
      </tbody></table>
    </Panel>
  )
}

export function WhyPanel({ view, query }: { view: JobView; query: UseQueryResult<Why> }) {
  const text = useText()
  const { t, f } = text
  const { data: why, error, refetch } = query
  if (error && !why) return <Failure error={error} retry={() => void refetch()} />
  if (!why) return <Panel title={t('job.why')}><Bones rows={6} /></Panel>
  const requirements = [...(why.requirements ?? [])].sort((a, b) => Number(b.binding ?? false) - Number(a.binding ?? false))
  return (
    <>
      <Panel title={t('job.why')} extra={why.rank ? <span className="soft">{t('job.rank', { queue: view.job.queue, rank: f.whole(why.rank), length: f.whole(why.queue_length) })}</span> : undefined}>
        <Expected why={why} />
        {requirements.length === 0 && <p style={{ margin: 0 }}>{why.summary}</p>}
        <div className="needs">{requirements.map((r) => <Needs key={r.name} r={r} />)}</div>
      </Panel>
      <div className="grid two">
        {(why.rejections?.length ?? 0) > 0 && (
          <Panel title={t('job.rejections')} flush>
            <table className="plain"><tbody>
              {why.rejections!.map((r) => (
                <tr key={r.filter}><td className="nowrap">{resourceName(r.filter, text)}</td><td className="num">{f.whole(r.nodes)}</td>
                  <td className="soft"><NodeLink name={r.first_node} /> {r.detail}</td></tr>
              ))}
            </tbody></table>
          </Panel>
        )}
        {(why.holders?.length ?? 0) > 0 && (
          <Panel title={t('job.holders')} flush>
            <table className="plain"><tbody>
              {why.holders!.map((h) => <tr key={`${h.job}${h.node}`}><td className="nowrap"><JobLink id={h.job} /></td><td className="nowrap"><NodeLink name={h.node} /></td><td className="num nowrap">{h.holds}</td></tr>)}
            </tbody></table>
          </Panel>
        )}
      </div>
      {(why.changes?.length ?? 0) > 0 && <Changes why={why} />}
      {(why.nodes?.length ?? 0) > 0 && <NodeByNode why={why} />}
    </>
  )
}
