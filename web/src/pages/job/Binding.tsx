// The exact slices each task holds.
import type { GpuSlice, JobView, TaskStatus } from '../../api/types'
import { useText } from '../../i18n'
import { ranges } from '../../lib/format'
import { NodeLink, Panel } from '../../ui/parts'
import { State } from '../../ui/State'
import { Ago } from '../../ui/Time'

function Slice({ s }: { s: GpuSlice }) {
  const { t, f } = useText()
  const n = f.whole(s.index)
  if (s.exclusive) return <span title={s.uuid}>{t('job.bindingTable.wholeCard', { n })}</span>
  if (s.partition) return <span title={s.uuid}>{t('job.bindingTable.partition', { n, partition: s.partition, memory: f.mib(s.memory_mib) })}</span>
  return <span title={s.uuid}>{t('job.bindingTable.slice', { n, memory: f.mib(s.memory_mib), compute: f.milli(s.compute) })} <span className="faint">{t(s.capped ? 'job.bindingTable.capped' : 'job.bindingTable.weight')}</span></span>
}

function Row({ task }: { task: TaskStatus }) {
  const { t, f } = useText()
  const a = task.allocation
  return (
    <tr>
      <td className="num">{f.whole(task.index)}</td>
      <td><State state={task.state} /></td>
      <td className="nowrap"><NodeLink name={a?.node} /> {a?.node_exclusive && <span className="mark">{t('job.bindingTable.exclusive')}</span>}</td>
      <td className="nowrap">{(a?.gpus ?? []).map((s) => <div key={s.index}><Slice s={s} /></div>)}{!a?.gpus?.length && <span className="faint">–</span>}</td>
      <td>{a ? <>{f.milli(a.cpu)} <span className="faint mono">{a.cpu_set?.length ? ranges(a.cpu_set) : t('job.bindingTable.shared')}</span></> : '–'}</td>
      <td className="nowrap">{a ? ((a.numa_node ?? -1) >= 0 ? f.whole(a.numa_node) : <span className="faint">{t('job.bindingTable.notBound')}</span>) : '–'}</td>
      <td className="num nowrap">{a ? f.bytes(a.memory_bytes) : '–'}</td>
      <td className="nowrap">{a?.disk || a?.disk_bytes ? <>{a.disk} {f.bytes(a.disk_bytes)}{a.disk_iops ? <span className="soft"> {t('unit.iops', { n: f.short(a.disk_iops) })}</span> : null}</> : <span className="faint">–</span>}</td>
      <td className="num">{f.whole(task.attempt)}</td>
      <td className="num">{(task.exit_code ?? -1) >= 0 ? task.exit_code : '–'}</td>
      <td className="nowrap"><Ago at={task.since} /></td>
    </tr>
  )
}

export function Binding({ view }: { view: JobView }) {
  const { t } = useText()
  const tasks = view.tasks ?? []
  return (
    <Panel flush>
      <table className="plain">
        <thead>
          <tr>
            <th className="num">{t('word.task')}</th><th>{t('word.state')}</th><th>{t('word.node')}</th><th>{t('job.bindingTable.cards')}</th><th>{t('job.bindingTable.cores')}</th><th>{t('job.bindingTable.numa')}</th>
            <th className="num">{t('job.bindingTable.memory')}</th><th>{t('job.bindingTable.disk')}</th><th className="num">{t('job.bindingTable.attempt')}</th><th className="num">{t('job.bindingTable.exit')}</th><th>{t('word.since')}</th>
          </tr>
        </thead>
        <tbody>{tasks.map((task) => <Row key={task.index} task={task} />)}</tbody>
      </table>
      {tasks.length === 0 && <div className="empty">{t('job.bindingTable.empty')}</div>}
    </Panel>
  )
}
