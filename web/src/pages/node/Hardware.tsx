// What the node is made of, and its latest live sample.
import type { NodeView } from '../../api/types'
import { useText } from '../../i18n'
import { ranges } from '../../lib/format'
import { Panel } from '../../ui/parts'
import { Ago } from '../../ui/Time'
import { Labels } from '../nodes/Labels'

function Facts({ rows }: { rows: [string, React.ReactNode][] }) {
  return <dl className="facts">{rows.filter(([, v]) => v).map(([k, v]) => <div key={k} style={{ display: 'contents' }}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
}

export function Hardware({ view }: { view: NodeView }) {
  const { t, f } = useText()
  const i = view.inventory ?? {}
  const s = view.sample
  const known = (n: number | undefined, show: (n: number) => string) => (n ? show(n) : <span className="faint">{t('word.unknown')}</span>)
  return (
    <>
      <Panel title={t('node.hardware')}>
        <Facts rows={[
          [t('node.labels'), <Labels key="l" labels={view.node.labels} />],
          [t('node.pools'), i.pools?.join(', ')],
          [t('node.cpuModel'), i.cpu_model],
          ['', t('node.cpuCounts', { cores: f.milli(i.cpu), reserved: f.milli(i.cpu_reserved), count: i.sockets ?? 1 })],
          [t('node.features'), i.cpu_features?.join(', ')],
          [t('resource.memory'), f.bytes(i.memory_bytes)],
          [t('node.runtimes'), i.runtimes?.join(', ')],
          [t('node.os'), i.os],
          [t('node.agent'), i.agent_version],
        ]} />
      </Panel>
      {s && (
        <Panel title={t('node.live')} extra={<span className="faint small"><Ago at={s.at} /></span>}>
          <Facts rows={[
            [t('node.cpuModel'), f.percent((s.cpu_percent ?? 0) / 100)],
            [t('node.load'), f.number(s.load1, 2)],
            [t('resource.memory'), t('word.amount', { n: f.bytes(s.memory_used_bytes), total: f.bytes(s.memory_total_bytes) })],
            [t('node.swap'), s.swap_used_bytes ? f.bytes(s.swap_used_bytes) : ''],
            [t('node.diskIo'), `${f.rate(s.disk_read_bytes)} / ${f.rate(s.disk_write_bytes)}`],
            [t('node.network'), `${f.rate(s.network_receive_bytes)} / ${f.rate(s.network_transmit_bytes)}`],
          ]} />
        </Panel>
      )}
      {(i.disks?.length ?? 0) > 0 && (
        <Panel title={t('node.disks')} flush>
          <table className="plain">
            <thead><tr><th>{t('node.disk')}</th><th className="num">{t('node.capacity')}</th><th className="num">{t('node.iops')}</th><th className="num">{t('node.latency')}</th><th className="num">{t('node.bandwidth')}</th></tr></thead>
            <tbody>{i.disks!.map((d) => (
              <tr key={d.name}><td className="nowrap">{d.name} <span className="faint">{d.type} {d.mount}</span></td><td className="num nowrap">{f.bytes(d.capacity_bytes)}</td>
                <td className="num">{known(d.iops, f.short)}</td><td className="num nowrap">{known(d.latency_us, (n) => t('node.us', { n: f.whole(n) }))}</td><td className="num nowrap">{known(d.bandwidth_bytes, f.rate)}</td></tr>
            ))}</tbody>
          </table>
        </Panel>
      )}
      {(i.numa?.length ?? 0) > 0 && (
        <Panel title={t('node.domains')} flush>
          <table className="plain">
            <thead><tr><th>{t('node.numa')}</th><th>{t('node.cpus')}</th><th className="num">{t('resource.memory')}</th><th className="num">{t('node.bandwidth')}</th></tr></thead>
            <tbody>{i.numa!.map((d) => <tr key={d.id ?? 0}><td>{d.id ?? 0}</td><td className="mono">{ranges(d.cpus)}</td><td className="num nowrap">{f.bytes(d.memory_bytes)}</td><td className="num nowrap">{known(d.memory_bandwidth_bytes, f.rate)}</td></tr>)}</tbody>
          </table>
        </Panel>
      )}
      {(i.networks?.length ?? 0) > 0 && (
        <Panel title={t('node.networks')} flush>
          <table className="plain">
            <tbody>{i.networks!.map((n) => <tr key={n.name}><td>{n.name}</td><td className="num">{known(n.speed_mbps, (x) => t('node.mbps', { n: f.whole(x) }))}</td><td className="soft">{n.rdma_device}</td></tr>)}</tbody>
          </table>
        </Panel>
      )}
    </>
  )
}
