import { Link } from 'react-router-dom'
import { useWhy } from '../../api/queries'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { lower } from '../../lib/states'
import { gpuAsk } from '../../lib/words'
import { Panel } from '../../ui/parts'
import { At } from '../../ui/Time'
import { Decision } from './Decision'
import { Timeline } from './Timeline'
import { WhyPanel } from './Why'

function Facts({ view }: { view: JobView }) {
  const text = useText()
  const { t, f, has } = text
  const { job } = view
  const rows: [string, React.ReactNode][] = [
    [t('jobs.asks'), gpuAsk(job, text)],
    [t('jobs.cpu'), f.milli(job.cpu)],
    [t('jobs.memory'), <span title={f.whole(job.memory_bytes)}>{f.bytes(job.memory_bytes)}</span>],
    [t('jobs.tasks'), f.whole(job.tasks ?? 1)],
    [t('jobs.type'), job.type && has(`type.${job.type}`) ? t(`type.${job.type}`) : '–'],
    [t('jobs.queue'), <Link to={`/jobs?queue=${encodeURIComponent(job.queue ?? '')}`}>{job.queue}</Link>],
    [t('jobs.priority'), f.whole(job.priority)],
    [t('jobs.tenant'), <Link to={`/jobs?tenant=${encodeURIComponent(job.tenant ?? '')}`}>{job.tenant}</Link>],
    [t('jobs.user'), job.user ?? '–'],
    [t('job.preemptible'), t(job.preemptible ? 'word.yes' : 'word.no')],
    ...(job.preemptions ? [[t('job.preemptions'), f.whole(job.preemptions)] as [string, React.ReactNode]] : []),
    [t('jobs.submitted'), <At at={job.submitted} />],
    ...(typeof view.spec?.output === 'string' && view.spec.output ? [[t('job.outputs'), <code>{view.spec.output}</code>] as [string, React.ReactNode]] : []),
  ]
  return (
    <Panel title={t('job.facts')} extra={(job.tasks ?? 1) > 1 ? <span className="faint small">{t('job.totalOf', { count: job.tasks })}</span> : undefined}>
      <dl className="facts">{rows.map(([name, value]) => <div key={name} className="pair" style={{ display: 'contents' }}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {view.notes && view.notes.length > 0 && <><h2 style={{ marginTop: 12 }}>{t('job.notes')}</h2><ul className="list" style={{ paddingLeft: 16 }}>{view.notes.map((n) => <li key={n}>{n}</li>)}</ul></>}
    </Panel>
  )
}

export function Summary({ view }: { view: JobView }) {
  const { t } = useText()
  const waiting = lower(view.job.state) === 'pending'
  const why = useWhy(view.job.id, waiting)
  return (
    <div className="grid wide-left">
      <div className="stack">
        <Panel title={t('job.timeline')}><Timeline view={view} /></Panel>
        {waiting && <WhyPanel view={view} query={why} />}
        {!waiting && view.decision && <Decision decision={view.decision} />}
      </div>
      <Facts view={view} />
    </div>
  )
}
