// The node's cards: use, memory, health, who holds which slice.
import { useEffect, useRef } from 'react'
import type { CardView, NodeView } from '../../api/types'
import { useText } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { JobLink } from '../../ui/parts'
import { State } from '../../ui/State'

function Row({ card, at, numa, capability }: { card: CardView; at: boolean; numa?: number; capability?: string }) {
  const { t, f } = useText()
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (at) row.current?.scrollIntoView({ block: 'center' })
  }, [at])
  const memory = { allocated: card.memory_allocated_mib ?? 0, used: card.memory_used_mib ?? 0, total: card.memory_total_mib ?? 0 }
  return (
    <tr ref={row} className={at ? 'at' : undefined}>
      <td className="num">{f.whole(card.index)}</td>
      <td className="nowrap" title={card.uuid}>{card.model}{capability && <span className="faint"> {capability}</span>}</td>
      <td className="nowrap">{card.healthy === false ? <span title={card.health_detail}><State state="unhealthy" /></span> : <span className="soft">{t('node.healthy')}</span>}</td>
      <td className="num">{f.percent((card.utilization_percent ?? 0) / 100)}</td>
      <td style={{ minWidth: 120 }}>
        <div className="cellbar"><small><span>{f.mib(memory.used)} / {f.mib(memory.allocated)}</span><span className="faint">{f.mib(memory.total)}</span></small>
          <Bar name={t('node.memory')} amounts={memory} show={f.mib} thin /></div>
      </td>
      <td className="num nowrap">{card.temperature_celsius ? t('heat.celsius', { n: f.whole(card.temperature_celsius) }) : '–'}</td>
      <td className="num nowrap">{card.power_watts ? t('heat.watts', { n: f.whole(card.power_watts) }) : '–'}</td>
      <td className="num">{numa !== undefined && numa >= 0 ? f.whole(numa) : '–'}</td>
      <td>{(card.slices ?? []).map((s) => <div key={`${s.job}/${s.task}`} className="nowrap"><JobLink id={s.job} /> <span className="faint">{f.mib(s.memory_mib)}</span></div>)}{!card.slices?.length && <span className="faint">–</span>}</td>
    </tr>
  )
}

export function Cards({ view, at }: { view: NodeView; at: string }) {
  const { t } = useText()
  const gpus = new Map((view.inventory?.gpus ?? []).map((g) => [g.index ?? 0, g]))
  return (
    <table className="plain">
      <thead>
        <tr>
          <th className="num">{t('word.card')}</th><th>{t('node.model')}</th><th>{t('word.state')}</th><th className="num">{t('node.use')}</th><th>{t('node.memory')}</th>
          <th className="num">{t('node.temperature')}</th><th className="num">{t('node.power')}</th><th className="num">{t('node.numa')}</th><th>{t('node.holders')}</th>
        </tr>
      </thead>
      <tbody>
        {(view.node.cards ?? []).map((card) => {
          const gpu = gpus.get(card.index ?? 0)
          return <Row key={card.index ?? 0} card={card} at={at !== '' && at === String(card.index ?? 0)} numa={gpu?.numa_node} capability={gpu?.compute_capability} />
        })}
      </tbody>
    </table>
  )
}
