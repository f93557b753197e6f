// Is there room, where, and what is wrong: in ten seconds.
import { useCluster } from '../../api/queries'
import { useText } from '../../i18n'
import { useTitle } from '../../lib/useTitle'
import { Bones, Empty, Failure, Panel } from '../../ui/parts'
import { ResourceTable } from '../../ui/ResourceTable'
import { Counts } from './Counts'
import { FitBox } from './FitBox'
import { Free } from './Free'
import { Problems } from './Problems'
import { Queues } from './Queues'

function Skeleton() {
  const { t } = useText()
  return (
    <div className="stack">
      <div className="all-well"><span className="faint">…</span></div>
      <div className="grid wide-left">
        <Panel title={t('overview.resources')}><Bones rows={6} /></Panel>
        <Panel title={t('overview.fit')}><Bones rows={4} /></Panel>
      </div>
      <Panel title={t('overview.queues')}><Bones rows={4} /></Panel>
    </div>
  )
}

export default function Overview() {
  const { t } = useText()
  const { data, error, refetch } = useCluster()
  useTitle(data?.name ?? t('overview.title'))
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton />
  const nodes = data.nodes ?? {}
  const anyNode = (nodes.up ?? 0) + (nodes.draining ?? 0) + (nodes.lost ?? 0) > 0
  return (
    <>
      <h1 className="hidden">{t('overview.title')}</h1>
      <Problems problems={data.problems ?? []} />
      {!anyNode && <Panel><Empty text={t('overview.noNodes')} command="crater-agent --config /etc/crater/agent.yaml" /></Panel>}
      <div className="grid wide-left">
        <div className="stack">
          {data.resources && anyNode && <Panel title={t('overview.resources')}><ResourceTable bars={data.resources} /></Panel>}
          <Panel title={t('overview.free')} flush><Free free={data.free ?? []} /></Panel>
          <Panel title={t('overview.queues')} flush><Queues queues={data.queues ?? []} /></Panel>
        </div>
        <div className="stack">
          <Panel title={t('overview.fit')}><FitBox models={[...new Set((data.free ?? []).map((f) => f.model ?? ''))]} /></Panel>
          <Panel title={t('overview.nodes')}><Counts counts={{ up: nodes.up, draining: nodes.draining, lost: nodes.lost }} to="/nodes" simulated={nodes.simulated} /></Panel>
          <Panel title={t('overview.jobs')}><Counts counts={data.jobs ?? {}} to="/jobs" /></Panel>
        </div>
      </div>
    </>
  )
}
