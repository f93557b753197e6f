import { Link } from 'react-router-dom'
import type { QueueView } from '../../api/types'
import { useText } from '../../i18n'
import { Empty } from '../../ui/parts'
import { Span } from '../../ui/Time'

export function Queues({ queues }: { queues: QueueView[] }) {
  const { t, f } = useText()
  if (queues.length === 0) return <Empty text={t('overview.noQueues')} command="crater queue list" />
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>{t('word.queue')}</th>
          <th className="num">{t('overview.waiting')}</th>
          <th className="num">{t('overview.running')}</th>
          <th className="num">{t('overview.oldest')}</th>
          <th className="num" title={t('overview.waitHint')}>{t('overview.p50')}</th>
          <th className="num" title={t('overview.waitHint')}>{t('overview.p95')}</th>
          <th>{t('overview.policy')}</th>
          <th>{t('overview.order')}</th>
        </tr>
      </thead>
      <tbody>
        {queues.map((q) => {
          const name = encodeURIComponent(q.spec.name)
          return (
            <tr key={q.spec.name}>
              <td><Link to={`/jobs?queue=${name}`}>{q.spec.name}</Link></td>
              <td className="num"><Link to={`/jobs?queue=${name}&state=pending`}>{f.short(q.waiting)}</Link></td>
              <td className="num"><Link to={`/jobs?queue=${name}&state=running`}>{f.short(q.running)}</Link></td>
              <td className="num"><Span from={q.oldest} /></td>
              <td className="num" title={t('overview.waitHint')}>{f.seconds(q.wait_p50_seconds)}</td>
              <td className="num" title={t('overview.waitHint')}>{f.seconds(q.wait_p95_seconds)}</td>
              <td className="soft">{q.spec.policy}</td>
              <td className="soft">{q.spec.order}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
