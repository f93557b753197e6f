import { Link } from 'react-router-dom'
import { useText } from '../../i18n'
import { JOB_STATES, NODE_STATES, lower } from '../../lib/states'
import { State } from '../../ui/State'

const ORDER: string[] = [...NODE_STATES, ...JOB_STATES]

export function Counts({ counts, to, simulated }: { counts: Record<string, number | undefined>; to: string; simulated?: number }) {
  const { t, f } = useText()
  const rows = Object.entries(counts)
    .map(([state, n]) => [lower(state), n ?? 0] as const)
    .filter(([state, n]) => n > 0 || state === 'up' || state === 'running' || state === 'pending')
    .sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]))
  return (
    <div className="counts">
      {rows.map(([state, n]) => (
        <Link key={state} to={`${to}?state=${state}`}><b title={f.whole(n)}>{f.short(n)}</b><State state={state} /></Link>
      ))}
      {simulated ? <span className="mark" title={t('hint.simulated')} style={{ alignSelf: 'center' }}>{t('overview.simulatedNodes', { count: simulated })}</span> : null}
    </div>
  )
}
