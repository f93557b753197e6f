// Columns of the job list: what they are called, show, and write into CSV.
import type { ColumnType } from 'antd/es/table'
import { Link } from 'react-router-dom'
import type { JobRow } from '../../api/types'
import type { Text } from '../../i18n'
import { ended, lower } from '../../lib/states'
import { gpuAsk, reasonText } from '../../lib/words'
import { JobLink, NodeLinks } from '../../ui/parts'
import { Marks, State } from '../../ui/State'
import { Ago, Span } from '../../ui/Time'

export interface Column {
  key: string
  title: string
  width: number
  sort?: string
  right?: boolean
  optional?: boolean // not shown unless chosen
  show: (job: JobRow) => React.ReactNode
  csv: (job: JobRow) => string | number | undefined
}

export function jobColumns(text: Text): Column[] {
  const { t, f, has } = text
  const type = (job: JobRow) => (job.type && has(`type.${job.type}`) ? t(`type.${job.type}`) : job.type)
  return [
    { key: 'name', title: t('jobs.name'), width: 232, sort: 'name', show: (j) => <><JobLink id={j.id}>{j.name || j.id}</JobLink> <Marks simulated={j.simulated} enforcement={j.enforcement} /></>, csv: (j) => j.name },
    { key: 'id', title: t('jobs.id'), width: 170, optional: true, show: (j) => <span className="mono">{j.id}</span>, csv: (j) => j.id },
    { key: 'state', title: t('jobs.state'), width: 106, sort: 'state', show: (j) => <State state={j.state} />, csv: (j) => j.state },
    { key: 'queue', title: t('jobs.queue'), width: 84, show: (j) => <Link to={`/jobs?queue=${encodeURIComponent(j.queue ?? '')}`}>{j.queue}</Link>, csv: (j) => j.queue },
    { key: 'tenant', title: t('jobs.tenant'), width: 142, show: (j) => <Link to={`/jobs?tenant=${encodeURIComponent(j.tenant ?? '')}`}>{j.tenant}</Link>, csv: (j) => j.tenant },
    { key: 'user', title: t('jobs.user'), width: 100, optional: true, show: (j) => j.user, csv: (j) => j.user },
    { key: 'type', title: t('jobs.type'), width: 90, optional: true, show: type, csv: (j) => j.type },
    { key: 'priority', title: t('jobs.priority'), width: 90, sort: 'priority', right: true, optional: true, show: (j) => f.whole(j.priority), csv: (j) => j.priority },
    { key: 'tasks', title: t('jobs.tasks'), width: 70, right: true, optional: true, show: (j) => f.whole(j.tasks ?? 1), csv: (j) => j.tasks ?? 1 },
    { key: 'gpu', title: t('jobs.asks'), width: 100, show: (j) => gpuAsk(j, text), csv: (j) => j.gpu },
    { key: 'cpu', title: t('jobs.cpu'), width: 60, right: true, show: (j) => f.milli(j.cpu), csv: (j) => j.cpu },
    { key: 'memory', title: t('jobs.memory'), width: 80, right: true, show: (j) => f.bytes(j.memory_bytes), csv: (j) => j.memory_bytes },
    { key: 'nodes', title: t('jobs.nodes'), width: 116, show: (j) => <NodeLinks names={j.nodes} most={1} />, csv: (j) => j.nodes?.join(' ') },
    { key: 'submitted', title: t('jobs.submitted'), width: 114, sort: 'submitted', show: (j) => <Ago at={j.submitted} />, csv: (j) => j.submitted },
    { key: 'time', title: t('jobs.time'), width: 150, show: (j) => <Times job={j} />, csv: (j) => j.started },
    { key: 'preemptions', title: t('jobs.preemptions'), width: 90, right: true, optional: true, show: (j) => f.whole(j.preemptions), csv: (j) => j.preemptions },
    { key: 'reason', title: t('jobs.why'), width: 155, show: (j) => <Why job={j} text={text} />, csv: (j) => [j.reason, j.detail].filter(Boolean).join(': ') },
  ]
}

function Times({ job }: { job: JobRow }) {
  return <><Span from={job.submitted} to={job.started ?? job.ended} /><span className="faint"> / </span>{job.started ? <Span from={job.started} to={ended(job.state) ? job.ended : undefined} /> : <span className="faint">–</span>}</>
}

function Why({ job, text }: { job: JobRow; text: Text }) {
  // What goes well needs no reason.
  if (['running', 'finished'].includes(lower(job.state))) return null
  const reason = reasonText(job.reason, text)
  return <span className="soft" title={[reason, job.detail].filter(Boolean).join(' — ')}>{job.detail || reason}</span>
}

export function tableColumn(column: Column, sort: string): ColumnType<JobRow> {
  return {
    key: column.key,
    title: column.title,
    width: column.width,
    ellipsis: true,
    align: column.right ? 'right' : undefined,
    render: (_, job) => column.show(job),
    sorter: Boolean(column.sort),
    sortDirections: ['ascend', 'descend', 'ascend'],
    sortOrder: column.sort && sort.replace(/^-/, '') === column.sort ? (sort.startsWith('-') ? 'descend' : 'ascend') : null,
    showSorterTooltip: false,
  }
}
