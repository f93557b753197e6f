// Form and job file side by side, each edits the other; the scheduler says while one types whether it would fit.
import { App, Button } from 'antd'
import { useMemo, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router-dom'
import { newKey, post } from '../../api/client'
import { rememberMe } from '../../api/me'
import { client } from '../../api/queries'
import type { JobSpec, JobView } from '../../api/types'
import { useText } from '../../i18n'
import { cliOf } from '../../lib/cli'
import { hasMasked, parseJob, specText, tidySpec, withValue } from '../../lib/jobFile'
import { useTitle } from '../../lib/useTitle'
import { FitAnswer, useFit } from '../../ui/Fit'
import { Command, Failure, Panel } from '../../ui/parts'
import { Form } from './Form'
import { Yaml } from './Yaml'

const KEY = 'crater.draft'
const FIRST = '# What each task needs, and what it runs.\nname: my-job\nresources:\n  cpu: { cores: 1 }\n  memory: { size: 1Gi }\ncommand: [ echo, hello ]\n'

function start(spec?: JobSpec): string {
  if (!spec) return sessionStorage.getItem(KEY) ?? FIRST
  const tidy = tidySpec(spec)
  return specText(tidy.name ? tidy : { name: 'my-job', ...tidy, command: ['python3', 'train.py'] })
}

export default function Submit() {
  const { t } = useText()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const location = useLocation()
  const [text, write] = useState(() => start((location.state as { spec?: JobSpec } | null)?.spec))
  useTitle(t('submit.title'))
  const [busy, setBusy] = useState(false)
  const [error, fail] = useState<unknown>(null)
  const key = useRef(newKey())
  const parsed = useMemo(() => parseJob(text), [text])
  const change = (next: string) => {
    sessionStorage.setItem(KEY, next)
    key.current = newKey()
    fail(null)
    write(next)
  }
  const bad = parsed.problem
  // While the file is broken the form shows, greyed, what it last said.
  const good = useRef(parsed.spec)
  if (!bad) good.current = parsed.spec
  const empty = Object.keys(parsed.spec).length === 0
  const fit = useFit(bad || empty ? null : parsed.spec, 600)
  const cli = useMemo(() => cliOf(parsed.spec), [parsed])
  const go = async () => {
    setBusy(true)
    fail(null)
    try {
      const { job } = await post<JobView>('/jobs', parsed.spec, { key: key.current })
      rememberMe(job.user)
      void message.success(t('submit.done', { name: job.name || job.id }))
      void client.invalidateQueries({ queryKey: ['jobs'] })
      sessionStorage.removeItem(KEY)
      navigate(`/jobs/${encodeURIComponent(job.id)}`)
    } catch (e) {
      fail(e)
      setBusy(false)
    }
  }
  return (
    <>
      <div className="head">
        <h1>{t('submit.title')}</h1>
        <span className="space" />
        <Button onClick={() => change(FIRST)}>{t('submit.reset')}</Button>
        <Button type="primary" loading={busy} disabled={Boolean(bad) || empty} onClick={() => void go()}>{t('submit.go')}</Button>
      </div>
      {error !== null && <div style={{ marginBottom: 12 }}><Failure error={error} /></div>}
      <div className="grid two">
        <Panel title={t('submit.form')} extra={<span className="faint small">{t('submit.keyLost')}</span>}>
          <Form draft={{ spec: good.current, off: Boolean(bad), set: (path, value) => change(withValue(text, path, value)) }} />
        </Panel>
        <div className="stack">
          <Panel title={t('submit.yaml')} flush>
            <Yaml text={text} change={change} bad={bad?.line} />
            {bad && <div className="tone-failed yaml-problem" role="alert">{bad.message ? t('submit.yamlBad', { line: bad.line, message: bad.message }) : t('submit.yamlNotMap')}</div>}
            {hasMasked(parsed.spec) && <div className="yaml-problem tone-waiting">{t('job.specMasked')}</div>}
          </Panel>
          <Panel title={t('submit.fit')} extra={fit.late && !bad && !empty ? <span className="faint small">{t('submit.fitAsking')}</span> : undefined}>
            <div style={{ minHeight: 44, opacity: fit.late ? 0.6 : 1 }}>
              {bad || empty || (!fit.data && !fit.error) ? <span className="faint">{t('submit.fitIdle')}</span> : <FitAnswer fit={fit.data} error={fit.error} />}
              {!bad && !fit.error && fit.data?.notes && fit.data.notes.length > 0 && <div className="soft small" style={{ marginTop: 6 }}>{t('submit.notes')}<ul className="list">{fit.data.notes.map((n) => <li key={n}>{n}</li>)}</ul></div>}
            </div>
          </Panel>
          {!bad && !empty && <Panel title={t('submit.cli')}>
            {!cli.whole && <div className="soft small">{t('submit.cliFile')}</div>}
            <Command text={cli.line} />
          </Panel>}
        </div>
      </div>
    </>
  )
}
