// Why it went where it went: the winner and the next best, term by term.
import type { DecisionTrace } from '../../api/types'
import { useText } from '../../i18n'
import { resourceName } from '../../lib/words'
import { NodeLink, Panel } from '../../ui/parts'

export function Decision({ decision }: { decision: DecisionTrace }) {
  const text = useText()
  const { t, f, has } = text
  const terms = [...new Set((decision.candidates ?? []).flatMap((c) => (c.terms ?? []).map((x) => x.name ?? '')))]
  return (
    <Panel title={t('job.decision')} flush extra={<span className="faint small">{t('job.decisionPolicy', { policy: decision.policy })}</span>}>
      <table className="plain">
        <thead><tr><th>{t('word.node')}</th><th className="num">{t('job.score')}</th>{terms.map((x) => <th key={x} className="num" title={has(`score.${x}Hint`) ? t(`score.${x}Hint`) : undefined}>{has(`score.${x}`) ? t(`score.${x}`) : x}</th>)}</tr></thead>
        <tbody>
          {(decision.candidates ?? []).map((c, i) => (
            <tr key={c.node}>
              <td className="nowrap"><NodeLink name={c.node} /> {i === 0 && <span className="mark">{t('job.winner')}</span>}</td>
              <td className="num">{f.fixed(c.score, 3)}</td>
              {terms.map((x) => {
                const term = c.terms?.find((y) => y.name === x)
                return <td key={x} className="num soft">{term ? f.fixed(term.value) : '–'}</td>
              })}
            </tr>
          ))}
          {(decision.rejections ?? []).map((r) => (
            <tr key={r.filter} className="soft"><td className="nowrap">{resourceName(r.filter, text)}</td>
              <td colSpan={terms.length + 1}>{t('job.short', { count: r.nodes ?? 0 })}: <NodeLink name={r.first_node} /> {r.detail}</td></tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
