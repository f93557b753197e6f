// Name, state, and why it is so.
import type { ReactNode } from 'react'
import type { JobView, Why } from '../../api/types'
import { useWhy } from '../../api/queries'
import { useText, type Text } from '../../i18n'
import { ended, lower } from '../../lib/states'
import { amount, reasonText, resourceName } from '../../lib/words'
import { Copy, NodeLinks } from '../../ui/parts'
import { Marks, State } from '../../ui/State'
import { Span } from '../../ui/Time'

// The scheduler's own sentence in English; in other languages the same from its numbers, where there are any.
export function whySentence(why: Why | undefined, text: Text): string | undefined {
  if (!why || text.language === 'en') return why?.summary
  const binding = why.requirements?.find((r) => r.binding)
  const rejection = why.rejections?.find((r) => r.filter === why.binding)
  if (!binding && rejection) return text.t('job.whyFilter', { name: resourceName(rejection.filter, text), count: rejection.nodes ?? 0 })
  if (!binding) return why.summary
  return text.t('job.whySentence', {
    name: resourceName(binding.name, text), needs: amount(binding.needs, binding.unit, text), best: amount(binding.best_has, binding.unit, text), node: binding.best_node,
  })
}

function Clock({ view }: { view: JobView }) {
  const { t } = useText()
  const { job } = view
  if (!job.started && !ended(job.state)) return <span className="soft">{t('job.waiting')} <Span from={job.submitted} /></span>
  return (
    <span className="soft">
      {t('job.waited')} <Span from={job.submitted} to={job.started ?? job.ended} />
      {job.started && <> · {t(ended(job.state) ? 'job.ran' : 'job.running')} <Span from={job.started} to={ended(job.state) ? job.ended : undefined} /></>}
    </span>
  )
}

export function Head({ view, actions }: { view: JobView; actions: ReactNode }) {
  const text = useText()
  const { job } = view
  const waiting = lower(job.state) === 'pending'
  const why = useWhy(job.id, waiting).data
  const reason = reasonText(job.reason, text)
  const sentence = waiting ? whySentence(why, text) : undefined
  return (
    <>
      <div className="head">
        <h1>{job.name || job.id}</h1>
        <Marks simulated={job.simulated} enforcement={job.enforcement} />
        <span className="faint mono">{job.id}</span>
        <Copy text={job.id} label={text.t('jobs.copyId')} />
        <span className="space" />
        {actions}
      </div>
      <div className="sentence">
        <strong><State state={job.state} /></strong>
        <span>{sentence ?? reason}{!sentence && job.detail ? <span className="soft"> {job.detail}</span> : null}</span>
        <span style={{ flex: 1 }} />
        {job.nodes && job.nodes.length > 0 && <NodeLinks names={job.nodes} most={3} />}
        <Clock view={view} />
      </div>
    </>
  )
}
