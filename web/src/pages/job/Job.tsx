// One job: state and the sentence that matters first, the rest in tabs that are part of the address.
import { Tabs } from 'antd'
import { useParams } from 'react-router-dom'
import { useJob } from '../../api/queries'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { useUrlState } from '../../lib/urlState'
import { useTitle } from '../../lib/useTitle'
import { Bones, Failure } from '../../ui/parts'
import { Actions } from './Actions'
import { Binding } from './Binding'
import { Events } from './Events'
import { Head } from './Head'
import { Logs } from './Logs'
import { Metrics } from './Metrics'
import { Spec } from './Spec'
import { Summary } from './Summary'

const TABS = ['overview', 'logs', 'metrics', 'binding', 'events', 'spec'] as const

function Tab({ name, view }: { name: string; view: JobView }) {
  if (name === 'logs') return <Logs view={view} />
  if (name === 'metrics') return <Metrics view={view} />
  if (name === 'binding') return <Binding view={view} />
  if (name === 'events') return <Events view={view} />
  if (name === 'spec') return <Spec view={view} />
  return <Summary view={view} />
}

export default function Job() {
  const { t } = useText()
  const { id = '' } = useParams()
  const { get, set } = useUrlState()
  const { data, error, refetch } = useJob(id)
  useTitle(data?.job.name || id)
  const tab = TABS.find((x) => x === get('tab')) ?? 'overview'
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <><div className="head"><h1>{id}</h1></div><div className="panel"><div className="body"><Bones rows={12} /></div></div></>
  return (
    <>
      <Head view={data} actions={<Actions view={data} />} />
      <Tabs activeKey={tab} onChange={(key) => set({ tab: key === 'overview' ? undefined : key })} items={TABS.map((key) => ({ key, label: t(`job.tab.${key}`) }))} />
      <Tab name={tab} view={data} />
    </>
  )
}
