import { CheckCircleFilled, WarningFilled } from '@ant-design/icons'
import type { Problem } from '../../api/types'
import { useText } from '../../i18n'
import { NodeLink } from '../../ui/parts'
import { Ago } from '../../ui/Time'

export function Problems({ problems }: { problems: Problem[] }) {
  const { t, has } = useText()
  if (problems.length === 0)
    return <div className="all-well" role="status"><CheckCircleFilled className="tone-running" />{t('overview.ok')}</div>
  return (
    <div className="problems" role="alert" aria-label={t('overview.problems', { count: problems.length })}>
      {problems.map((p) => {
        const kind = has(`overview.problem.${p.kind}`) ? `overview.problem.${p.kind}` : 'overview.problem.other'
        const onNode = p.kind === 'node_lost' || p.kind === 'card_unhealthy'
        return (
          <div key={`${p.kind}${p.subject}${p.text}`}>
            <span className="state"><WarningFilled className="tone-failed" /><strong>{t(kind)}</strong></span>
            {onNode ? <NodeLink name={p.subject?.split(/[/:\s]/)[0]}>{p.subject}</NodeLink> : <span>{p.subject}</span>}
            <span className="soft">{p.text}</span>
            <span style={{ flex: 1 }} />
            <span className="faint"><Ago at={p.since} /></span>
          </div>
        )
      })}
    </div>
  )
}
