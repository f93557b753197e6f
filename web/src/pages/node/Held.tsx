import type { NodeTask } from '../../api/types'
import { useText } from '../../i18n'
import { ranges } from '../../lib/format'
import { JobLink } from '../../ui/parts'
import { State } from '../../ui/State'
import { Span } from '../../ui/Time'

export function Held({ held }: { held: NodeTask[] }) {
  const { t, f } = useText()
  return (
    <table className="plain">
      <thead><tr><th>{t('word.job')}</th><th className="num">{t('word.task')}</th><th>{t('word.state')}</th><th>{t('node.cards')}</th><th className="num">{t('jobs.cpu')}</th><th className="num">{t('jobs.memory')}</th><th className="num">{t('jobs.ran')}</th></tr></thead>
      <tbody>
        {held.map((h) => {
          const a = h.task?.allocation
          return (
            <tr key={`${h.job}/${h.task?.index}`}>
              <td className="nowrap"><JobLink id={h.job}>{h.name || h.job}</JobLink></td>
              <td className="num">{f.whole(h.task?.index)}</td>
              <td><State state={h.task?.state} /></td>
              <td>{a?.gpus?.length ? ranges(a.gpus.map((g) => g.index ?? 0)) : <span className="faint">–</span>}</td>
              <td className="num">{f.milli(a?.cpu)}</td>
              <td className="num nowrap">{f.bytes(a?.memory_bytes)}</td>
              <td className="num nowrap"><Span from={h.task?.started} /></td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
