import type { FreeSlice } from '../../api/types'
import { useText } from '../../i18n'
import { NodeLink } from '../../ui/parts'
import { Marks } from '../../ui/State'

export function Free({ free }: { free: FreeSlice[] }) {
  const { t, f } = useText()
  if (free.length === 0) return <div className="empty">{t('overview.freeEmpty')}</div>
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>{t('overview.model')}</th>
          <th className="num">{t('overview.wholeCards')}</th>
          <th className="num">{t('overview.onOneNode')}</th>
          <th className="num">{t('overview.largest')}</th>
          <th>{t('overview.where')}</th>
        </tr>
      </thead>
      <tbody>
        {free.map((s) => (
          <tr key={`${s.model}${s.simulated}`}>
            <td className="nowrap">{s.model} <Marks simulated={s.simulated} /></td>
            <td className="num"><strong>{f.whole(s.whole_cards)}</strong></td>
            <td className="num">{f.whole(s.cards_on_one_node)}</td>
            <td className="num nowrap">{f.mib(s.largest_mib)}</td>
            <td className="nowrap"><NodeLink name={s.node} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
