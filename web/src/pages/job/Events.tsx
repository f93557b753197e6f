import { useJobEvents } from '../../api/queries'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { reasonText } from '../../lib/words'
import { Bones, Failure, Panel } from '../../ui/parts'
import { State } from '../../ui/State'
import { At } from '../../ui/Time'

export function Events({ view }: { view: JobView }) {
  const text = useText()
  const { t } = text
  const { data, error, refetch } = useJobEvents(view.job.id)
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  return (
    <Panel flush>
      {!data && <div style={{ padding: 14 }}><Bones rows={6} /></div>}
      {data && data.length === 0 && <div className="empty">{t('job.eventsEmpty')}</div>}
      {data && data.length > 0 && (
        <table className="plain">
          <thead><tr><th>{t('job.at')}</th><th>{t('word.state')}</th><th>{t('word.reason')}</th><th>{t('job.detail')}</th></tr></thead>
          <tbody>
            {[...data].sort((a, b) => (b.at ?? '').localeCompare(a.at ?? '')).map((e, i) => (
              <tr key={i}><td className="nowrap soft"><At at={e.at} /></td><td><State state={e.state} /></td><td>{reasonText(e.reason, text)}</td><td className="soft">{e.detail}</td></tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}
