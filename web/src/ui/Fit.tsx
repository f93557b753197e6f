// "Would this fit?": asked of the scheduler's own planner, never guessed here.
import { CheckCircleFilled, ClockCircleOutlined, CloseCircleFilled } from '@ant-design/icons'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, post } from '../api/client'
import type { FitView, JobSpec } from '../api/types'
import { useText } from '../i18n'
import { resourceName } from '../lib/words'
import { Failure, NodeLinks } from './parts'

export function useFit(spec: JobSpec | null, waitMs = 500) {
  const [asked, ask] = useState<string | null>(null)
  const text = spec ? JSON.stringify(spec) : null
  useEffect(() => {
    const timer = setTimeout(() => ask(text), waitMs)
    return () => clearTimeout(timer)
  }, [text, waitMs])
  const query = useQuery({
    queryKey: ['fit', asked],
    queryFn: ({ signal }) => post<FitView>('/plans/submit', JSON.parse(asked!), { signal }),
    enabled: asked !== null,
    staleTime: 10_000,
    retry: false,
    placeholderData: keepPreviousData,
  })
  return { ...query, late: text !== asked || query.isFetching }
}

export function FitAnswer({ fit, error }: { fit?: FitView; error?: unknown }) {
  const text = useText()
  const { t } = text
  if (error) return error instanceof ApiError && error.status === 422
    ? <Verdict kind="never" detail={error.message} hint={error.hint} />
    : <Failure error={error} />
  if (!fit) return null
  const rejections = (fit.decision?.rejections ?? []).slice(0, 4)
  return (
    <div className="stack" style={{ gap: 6 }}>
      <Verdict kind={fit.fits_now ? 'now' : fit.fits_ever ? 'later' : 'never'} detail={fit.fits_now && fit.nodes ? undefined : fit.summary} />
      {fit.nodes && fit.nodes.length > 0 && <div className="soft">{t('overview.fitWhere')} <NodeLinks names={fit.nodes} most={4} /></div>}
      {!fit.fits_now && rejections.length > 0 && (
        <ul className="list">
          {rejections.map((r) => <li key={r.filter} title={r.detail}>{t('overview.fitRejected', { name: resourceName(r.filter, text), count: r.nodes ?? 0 })}</li>)}
        </ul>
      )}
    </div>
  )
}

function Verdict({ kind, detail, hint }: { kind: 'now' | 'later' | 'never'; detail?: string; hint?: string }) {
  const { t } = useText()
  const icon = { now: <CheckCircleFilled className="tone-running" />, later: <ClockCircleOutlined className="tone-waiting" />, never: <CloseCircleFilled className="tone-failed" /> }[kind]
  const word = { now: 'overview.fitNow', later: 'overview.fitLater', never: 'overview.fitNever' }[kind]
  return (
    <div role="status" className="verdict" data-fit={kind}>
      {icon}
      <div>
        <strong>{t(word)}</strong>
        {detail && <div className="soft">{detail}</div>}
        {hint && <div className="faint">{hint}</div>}
      </div>
    </div>
  )
}
