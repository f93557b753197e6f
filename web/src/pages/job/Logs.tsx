// Logs: followed, searched, downloaded.
import { DownloadOutlined, DownOutlined, UpOutlined } from '@ant-design/icons'
import { App, Button, Checkbox, Input, Select } from 'antd'
import { useMemo, useState } from 'react'
import { open, seg } from '../../api/client'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { save } from '../../lib/csv'
import { matching } from '../../lib/logLines'
import { ended } from '../../lib/states'
import { useHeight } from '../../lib/useHeight'
import { useUrlState } from '../../lib/urlState'
import { Lines } from '../../ui/Lines'
import { Failure } from '../../ui/parts'
import { useLog } from './useLog'

function Marked({ line, word }: { line: string; word: string }) {
  if (!word) return <>{line || ' '}</>
  const parts: (string | JSX.Element)[] = []
  const low = line.toLowerCase()
  const wanted = word.toLowerCase()
  let at = 0
  for (let hit = low.indexOf(wanted); hit >= 0; hit = low.indexOf(wanted, at)) {
    parts.push(line.slice(at, hit), <mark key={hit}>{line.slice(hit, hit + word.length)}</mark>)
    at = hit + word.length
  }
  parts.push(line.slice(at) || ' ')
  return <>{parts}</>
}

export function Logs({ view }: { view: JobView }) {
  const { t, f } = useText()
  const { message } = App.useApp()
  const { get, set } = useUrlState()
  const { job } = view
  const tasks = Math.max(job.tasks ?? 1, view.tasks?.length ?? 0)
  const task = Math.min(Number(get('task') || 0), tasks - 1)
  const attempts = view.tasks?.find((x) => (x.index ?? 0) === task)?.attempt ?? 1
  const begun = Boolean(view.tasks?.some((x) => (x.index ?? 0) === task && (x.attempt ?? 0) > 0))
  const attempt = get('attempt') && Number(get('attempt')) < attempts ? Number(get('attempt')) : undefined
  const log = useLog(job.id, task, attempt, !ended(job.state) && attempt === undefined, begun)
  const [follow, setFollow] = useState(true)
  const [word, find] = useState('')
  const [at, move] = useState(0)
  const { ref, height } = useHeight<HTMLDivElement>(34)
  const hits = useMemo(() => matching(log.lines, word), [log.version, word]) // eslint-disable-line
  const here = hits.length > 0 ? ((at % hits.length) + hits.length) % hits.length : 0
  const step = (by: number) => { setFollow(false); move(here + by) }
  const download = async () => {
    try {
      const text = await (await open(`/jobs/${seg(job.id)}/logs`, { task: task || undefined, attempt })).blob()
      save(`${job.id}-${task}.log`, text, 'text/plain')
    } catch (e) {
      void message.error((e as Error).message)
    }
  }
  const status = !begun ? 'job.logs.waiting' : log.status === 'ended' ? 'job.logs.ended' : follow ? 'job.logs.follow' : 'job.logs.paused'
  return (
    <div className="panel">
      <div className="row pager" style={{ borderTop: 0, borderBottom: '1px solid var(--line)' }}>
        {tasks > 1 && <Select value={task} showSearch style={{ width: 110 }} onChange={(n) => set({ task: n ? String(n) : undefined })} aria-label={t('word.task')}
          options={Array.from({ length: tasks }, (_, i) => ({ value: i, label: t('job.metrics.task', { n: i }) }))} />}
        {attempts > 1 && <Select value={attempt ?? attempts} style={{ width: 110 }} onChange={(n) => set({ attempt: n === attempts ? undefined : String(n) })} aria-label={t('job.logs.start')}
          options={Array.from({ length: attempts }, (_, i) => ({ value: i + 1, label: t('job.logs.attempt', { n: i + 1 }) }))} />}
        <Input allowClear style={{ width: 230 }} placeholder={t('job.logs.search')} aria-label={t('job.logs.search')} value={word}
          onChange={(e) => { find(e.target.value); move(0); setFollow(false) }} onPressEnter={(e) => step(e.shiftKey ? -1 : 1)} />
        {word && <span className="faint small">{t('job.logs.matches', { at: f.whole(hits.length ? here + 1 : 0), n: f.whole(hits.length) })}</span>}
        {word && <span><Button type="text" size="small" icon={<UpOutlined />} disabled={!hits.length} onClick={() => step(-1)} /><Button type="text" size="small" icon={<DownOutlined />} disabled={!hits.length} onClick={() => step(1)} /></span>}
        <span className="space" />
        <span className="faint small">{t('job.logs.lines', { n: f.whole(log.lines.length) })}</span>
        <Checkbox checked={follow} onChange={(e) => setFollow(e.target.checked)}>{t('job.logs.follow')}</Checkbox>
        <Button icon={<DownloadOutlined />} onClick={() => void download()}>{t('job.logs.download')}</Button>
      </div>
      {log.error && <div style={{ padding: 10 }}><Failure error={log.error} /></div>}
      {log.dropped > 0 && <div className="faint small" style={{ padding: '4px 12px' }}>{t('job.logs.trimmed')}</div>}
      <div ref={ref}>
        {log.lines.length === 0
          ? <div className="empty">{t(!begun && !ended(job.state) ? 'job.logs.waiting' : 'job.logs.empty')}</div>
          : <Lines count={log.lines.length} height={height} follow={follow} onLeave={(end) => { if (!end && follow) setFollow(false) }} target={word && hits.length ? hits[here] : undefined}
              label={t('job.tab.logs')} show={(i) => <Marked line={log.lines[i]} word={word} />} />}
      </div>
      <div className="faint small" style={{ padding: '4px 12px', borderTop: '1px solid var(--line)' }}>{t(status)}</div>
    </div>
  )
}
