// One node: how it stands, what it is made of, who holds the limits, what runs on it.
import { Link, useParams } from 'react-router-dom'
import { useNode } from '../../api/queries'
import { useText } from '../../i18n'
import { useUrlState } from '../../lib/urlState'
import { useTitle } from '../../lib/useTitle'
import { Bones, Empty, Failure, Panel } from '../../ui/parts'
import { ResourceTable } from '../../ui/ResourceTable'
import { Marks, State } from '../../ui/State'
import { Ago } from '../../ui/Time'
import { Actions } from './Actions'
import { Cards } from './Cards'
import { Enforced } from './Enforced'
import { Hardware } from './Hardware'
import { Held } from './Held'
import { Topology } from './Topology'

export default function Node() {
  const { t } = useText()
  const { name = '' } = useParams()
  const { get } = useUrlState()
  const { data, error, refetch } = useNode(name)
  useTitle(name)
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <><div className="head"><h1>{name}</h1></div><div className="panel"><div className="body"><Bones rows={12} /></div></div></>
  const { node, inventory } = data
  const advisory = Object.values(inventory?.enforcement ?? {}).includes('advisory') ? 'advisory' : undefined
  return (
    <>
      <div className="head">
        <h1>{node.name}</h1>
        <Marks simulated={node.simulated} enforcement={advisory} />
        <span className="space" />
        <Link to={`/heatmap?find=${encodeURIComponent(name)}`}>{t('nav.heatmap')}</Link>
        <Actions view={data} />
      </div>
      <div className="sentence">
        <strong><State state={node.state} /></strong>
        {node.detail && <span>{node.detail}</span>}
        <span className="soft">{t('nodes.since')} <Ago at={node.since} /></span>
        <span style={{ flex: 1 }} />
        <span className="soft">{t('node.heartbeat')} <Ago at={node.last_heartbeat} /></span>
      </div>
      <div className="grid wide-left">
        <div className="stack">
          {node.resources && <Panel title={t('node.resources')}><ResourceTable bars={node.resources} /></Panel>}
          {(node.cards?.length ?? 0) > 0 && <Panel title={t('node.cards')} flush><Cards view={data} at={get('card')} /></Panel>}
          <Panel title={t('node.held')} flush extra={<Link to={`/jobs?node=${encodeURIComponent(name)}`}>{t('node.jobsHere')}</Link>}>{data.held?.length ? <Held held={data.held} /> : <Empty text={t('node.heldEmpty')} />}</Panel>
          <Panel title={t('node.topology')} flush><Topology name={name} inventory={inventory ?? {}} /></Panel>
        </div>
        <div className="stack">
          <Panel title={t('node.enforcement')}><Enforced inventory={inventory ?? {}} /></Panel>
          <Hardware view={data} />
        </div>
      </div>
    </>
  )
}
