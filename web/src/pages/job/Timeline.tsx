// The states a job went through: as a bar, and step by step with reasons.
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { useNow } from '../../lib/clock'
import { lower, toneOf } from '../../lib/states'
import { segments } from '../../lib/timeline'
import { reasonText } from '../../lib/words'
import { State } from '../../ui/State'
import { At } from '../../ui/Time'

export function Timeline({ view }: { view: JobView }) {
  const text = useText()
  const { t, f, has } = text
  const now = useNow(1)
  const steps = view.timeline ?? []
  if (steps.length === 0) return <div className="empty">{t('job.timelineEmpty')}</div>
  const name = (state: string) => (has(`state.${lower(state)}`) ? t(`state.${lower(state)}`) : state)
  const parts = segments(steps, now)
  return (
    <>
      <div className="timeline" role="img" aria-label={parts.map((s) => `${name(s.state)} ${f.span(s.to - s.from)}`).join(', ')}>
        {parts.map((s, i) => (
          <span key={i} className={`seg tone-${toneOf(s.state)}${s.open ? ' open' : ''}`} style={{ width: `${s.width}%` }}
            title={[`${name(s.state)} ${f.span(s.to - s.from)}`, reasonText(s.reason, text), s.detail].filter(Boolean).join('\n')}>
            {s.width > 9 && <em>{name(s.state)} {f.span(s.to - s.from)}</em>}
          </span>
        ))}
      </div>
      <table className="plain tight">
        <tbody>
          {[...steps].reverse().map((s, i) => (
            <tr key={i}>
              <td className="nowrap soft"><At at={s.at} /></td>
              <td><State state={s.state} /></td>
              <td style={{ width: '100%' }}>{reasonText(s.reason, text)} {s.detail && <span className="soft">{s.detail}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
