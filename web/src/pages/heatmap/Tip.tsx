// What a card is and who holds it.
import type { CardView, NodeRow } from '../../api/types'
import { useText } from '../../i18n'
import { Marks, State } from '../../ui/State'

export function Tip({ node, card, x, y, width, flip }: { node: NodeRow; card: CardView; x: number; y: number; width: number; flip: boolean }) {
  const { t, f } = useText()
  const left = x + 300 > width ? Math.max(0, x - 340) : x
  return (
    <div className="tip" style={{ left, top: y, transform: flip ? 'translateY(calc(-100% + 20px))' : undefined }} role="status">
      <div className="row"><strong>{t('heat.card', { n: f.whole(card.index), node: node.name })}</strong><Marks simulated={node.simulated} /></div>
      <div className="soft">{card.model}</div>
      {(card.healthy === false || node.state !== 'up') && <div><State state={card.healthy === false ? 'unhealthy' : node.state} /> <span className="soft">{card.healthy === false ? card.health_detail : node.detail}</span></div>}
      <dl className="facts">
        <dt>{t('heat.use')}</dt><dd>{f.percent((card.utilization_percent ?? 0) / 100)}</dd>
        <dt>{t('heat.memory')}</dt><dd>{t('bar.used')} {f.mib(card.memory_used_mib)} · {t('bar.allocated')} {f.mib(card.memory_allocated_mib)} · {t('bar.total')} {f.mib(card.memory_total_mib)}</dd>
        {card.temperature_celsius ? <><dt>{t('heat.temperature')}</dt><dd>{t('heat.celsius', { n: f.whole(card.temperature_celsius) })}{card.power_watts ? ` · ${t('heat.watts', { n: f.whole(card.power_watts) })}` : ''}</dd></> : null}
      </dl>
      {(card.slices ?? []).slice(0, 8).map((s) => <div key={`${s.job}/${s.task}`} className="mono">{t('heat.holder', { job: s.job, task: f.whole(s.task) })} · {f.mib(s.memory_mib)}</div>)}
      {!card.slices?.length && <div className="faint">{t('heat.nobody')}</div>}
    </div>
  )
}
