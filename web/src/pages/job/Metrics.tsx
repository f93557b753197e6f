// What it really uses against what it asked for.
import { Select } from 'antd'
import { useMemo } from 'react'
import { useJobMetrics } from '../../api/queries'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { levels, rates, type Key } from '../../lib/metrics'
import { ended } from '../../lib/states'
import { useUrlState } from '../../lib/urlState'
import { Chart } from '../../ui/Chart'
import { Bones, Failure, Panel } from '../../ui/parts'

const MOST_LINES = 6

export function Metrics({ view }: { view: JobView }) {
  const { t, f } = useText()
  const { get, set } = useUrlState()
  const { job } = view
  const { data, error, refetch } = useJobMetrics(job.id, !ended(job.state))
  const all = useMemo(() => (data?.series ?? []).filter((s) => s.points?.length), [data])
  const asked = get('task')
  const series = useMemo(() => (asked ? all.filter((s) => String(s.task) === asked) : all.slice(0, MOST_LINES)), [all, asked])
  const drawn = useMemo(() => {
    const name = (task?: number) => (series.length > 1 ? t('job.metrics.task', { n: task }) : t('job.metrics.used'))
    const level = (key: Key) => series.map((s) => ({ name: name(s.task), points: levels(s, key) }))
    const s0 = series.slice(0, 1)
    return {
      cpu: level('cpu_cores'), memory: level('memory_bytes'), gpu: level('gpu_percent'), gpuMemory: level('gpu_memory_mib'),
      io: s0.flatMap((s) => [{ name: t('job.metrics.read'), points: rates(s, 'read_bytes') }, { name: t('job.metrics.write'), points: rates(s, 'write_bytes') }]),
    }
  }, [series, t])
  const limits = useMemo(() => {
    const tasks = job.tasks ?? 1
    const line = (value?: number) => (value ? { value: value / tasks, name: t('job.metrics.requested') } : undefined)
    return { cpu: line(job.cpu), memory: line(job.memory_bytes), gpuMemory: line(job.gpu_memory_mib) }
  }, [job.cpu, job.memory_bytes, job.gpu_memory_mib, job.tasks, t])

  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Panel><Bones rows={10} /></Panel>
  if (all.length === 0) return <Panel><div className="empty">{t('job.metrics.empty')}</div></Panel>
  const points = series[0]?.points ?? []
  const cores = (n: number) => f.number(n, 1)
  const gpu = (job.gpu ?? 0) > 0
  return (
    <>
      <div className="row" style={{ marginBottom: 10 }}>
        {all.length > 1 && <Select allowClear showSearch style={{ width: 120 }} placeholder={t('word.all')} value={asked || undefined} onChange={(v?: string) => set({ task: v })} aria-label={t('word.task')}
          options={all.map((s) => ({ value: String(s.task ?? 0), label: t('job.metrics.task', { n: s.task ?? 0 }) }))} />}
        <span className="faint">{t('job.metrics.window', { from: f.exact(points[0]?.at ?? 0), to: f.exact(points[points.length - 1]?.at ?? 0) })}</span>
      </div>
      <div className="grid two">
        <Panel title={t('job.metrics.cpu')}><Chart series={drawn.cpu} show={cores} limit={limits.cpu} label={t('job.metrics.cpu')} /></Panel>
        <Panel title={t('job.metrics.memory')}><Chart series={drawn.memory} show={f.bytes} binary limit={limits.memory} label={t('job.metrics.memory')} /></Panel>
        {gpu && <Panel title={t('job.metrics.gpu')}><Chart series={drawn.gpu} show={f.whole} most={100} label={t('job.metrics.gpu')} /></Panel>}
        {gpu && <Panel title={t('job.metrics.gpuMemory')}><Chart series={drawn.gpuMemory} show={f.mib} binary limit={limits.gpuMemory} label={t('job.metrics.gpuMemory')} /></Panel>}
        <Panel title={t('job.metrics.io')}><Chart series={drawn.io} show={f.rate} unit={1} label={t('job.metrics.io')} /></Panel>
      </div>
    </>
  )
}
