// NUMA domains with their cards, disks and network; NVLink as arcs, NUMA distance between domains.
import { useTopology } from '../../api/queries'
import type { NodeInventory, TopologyView } from '../../api/types'
import { useText, type Text } from '../../i18n'
import { BUS, layout, type Box, type Bus, type Wire } from '../../lib/topology'
import { Bones, Failure } from '../../ui/parts'

const TONE: Record<string, string> = { gpu: 'var(--accent)', disk: 'var(--tone-waiting)', nic: 'var(--tone-running)' }

function Device({ box }: { box: Box }) {
  return (
    <g>
      <title>{box.label}</title>
      <rect x={box.x} y={box.y} width={box.w} height={box.h} rx={3} fill="var(--surface)" stroke="var(--line)" />
      <rect x={box.x} y={box.y} width={4} height={box.h} fill={TONE[box.kind] ?? 'var(--faint)'} />
      <text x={box.x + 12} y={box.y + box.h / 2} dominantBaseline="central" fill="var(--text)" fontSize={11}>{box.label.length > 21 ? `${box.label.slice(0, 20)}…` : box.label}</text>
    </g>
  )
}

function Link({ wire, boxes, seen }: { wire: Wire; boxes: Map<string, Box>; seen: number }) {
  const a = boxes.get(wire.from)
  const b = boxes.get(wire.to)
  if (!a || !b) return null
  if (wire.kind === 'numa') {
    const x = a.x + a.w / 2 + seen * 40
    const [up, down] = a.y < b.y ? [a, b] : [b, a]
    const y = (up.y + up.h + down.y) / 2
    return (
      <g>
        <title>{`${a.label} – ${b.label}: ${wire.label}`}</title>
        <line x1={x} y1={up.y + up.h} x2={x} y2={down.y} stroke="var(--faint)" strokeDasharray="3 2" />
        <text x={x + 6} y={y} dominantBaseline="central" fill="var(--soft)" fontSize={11}>{wire.label}</text>
      </g>
    )
  }
  const x1 = a.x + a.w / 2
  const x2 = b.x + b.w / 2
  const lift = a.y === b.y ? 7 + Math.abs(x2 - x1) / 40 : 0
  return (
    <path d={`M${x1},${a.y} C${x1},${a.y - lift - 4} ${x2},${b.y - lift - 4} ${x2},${b.y}`} fill="none" stroke="var(--accent)" strokeWidth={1} opacity={0.35}>
      <title>{`${a.label} – ${b.label}: ${wire.label || wire.kind}`}</title>
    </path>
  )
}

// A line above each row of cards with a stub to each, and a trunk at the left where there are several rows.
function BusLine({ bus, boxes }: { bus: Bus; boxes: Map<string, Box> }) {
  const { t } = useText()
  const rows = new Map<number, Box[]>()
  for (const id of bus.ids) {
    const box = boxes.get(id)
    if (box) rows.set(box.y, [...(rows.get(box.y) ?? []), box])
  }
  const ys = [...rows.keys()].sort((a, b) => a - b)
  const trunk = Math.min(...bus.ids.map((id) => boxes.get(id)?.x ?? 0)) - 6
  const path = [...rows].map(([y, list]) => {
    const xs = list.map((b) => b.x + b.w / 2)
    return `M${ys.length > 1 ? trunk : Math.min(...xs)},${y - BUS}H${Math.max(...xs)}` + xs.map((x) => `M${x},${y - BUS}V${y}`).join('')
  })
  if (ys.length > 1) path.push(`M${trunk},${ys[0] - BUS}V${ys[ys.length - 1] - BUS}`)
  return <path d={path.join('')} fill="none" stroke="var(--accent)" strokeWidth={1.5}><title>{`${t('node.legendNvlink')} ${bus.label ?? ''}`}</title></path>
}

// Labels from the inventory, in people's units; what it does not know keeps the label that came.
function named(view: TopologyView, inventory: NodeInventory, { t, f }: Text): TopologyView {
  const labels = new Map<string, string>()
  for (const d of inventory.numa ?? []) labels.set(`numa${d.id ?? 0}`, t('node.numaLabel', { n: d.id ?? 0, cpus: f.whole(d.cpus?.length), memory: f.bytes(d.memory_bytes) }))
  for (const g of inventory.gpus ?? []) labels.set(`gpu${g.index ?? 0}`, `${g.index ?? 0}: ${g.model}`)
  for (const d of inventory.disks ?? []) labels.set(`disk-${d.name}`, `${d.name} ${d.type} ${f.bytes(d.capacity_bytes)}`)
  for (const n of inventory.networks ?? []) labels.set(`nic-${n.name}`, n.speed_mbps ? `${n.name} ${t('node.gbps', { n: f.number(n.speed_mbps / 1000) })}` : (n.name ?? ''))
  return { ...view, vertices: view.vertices?.map((v) => ({ ...v, label: labels.get(v.id ?? '') ?? v.label })) }
}

export function Topology({ name, inventory }: { name: string; inventory: NodeInventory }) {
  const text = useText()
  const { t } = text
  const { data, error, refetch } = useTopology(name)
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <div style={{ padding: 14 }}><Bones rows={6} /></div>
  if (!data.vertices?.length) return <div className="empty">{t('node.topologyEmpty')}</div>
  const d = layout(named(data, inventory, text))
  const boxes = new Map([...d.domains, ...d.devices].map((b) => [b.id, b]))
  const numa = d.wires.filter((w) => w.kind === 'numa')
  return (
    <div style={{ padding: '4px 2px 6px' }}>
      <svg width={d.width} height={d.height} viewBox={`0 0 ${d.width} ${d.height}`} role="img" aria-label={t('node.topology')} style={{ maxWidth: '100%', height: 'auto', minWidth: 520 }}>
        {d.domains.map((b) => (
          <g key={b.id}>
            <rect x={b.x} y={b.y} width={b.w} height={b.h} rx={4} fill={b.id ? 'var(--raised)' : 'none'} stroke="var(--line)" strokeDasharray={b.id ? undefined : '4 3'} />
            <text x={b.x + 12} y={b.y + 15} dominantBaseline="central" fill="var(--soft)" fontSize={11}>{b.id ? b.label : t('job.bindingTable.notBound')}</text>
          </g>
        ))}
        {d.wires.map((w, i) => <Link key={i} wire={w} boxes={boxes} seen={numa.indexOf(w)} />)}
        {d.buses.map((bus) => <BusLine key={bus.ids[0]} bus={bus} boxes={boxes} />)}
        {d.devices.map((b) => <Device key={b.id} box={b} />)}
      </svg>
      <div className="row small soft" style={{ padding: '0 12px' }}>
        {(d.buses.length > 0 || d.wires.some((w) => w.kind === 'nvlink')) && <span><svg width={22} height={8} aria-hidden><path d="M2,8V2H20V8" fill="none" stroke="var(--accent)" strokeWidth={1.5} /></svg> {t('node.legendNvlink')}</span>}
        {numa.length > 0 && <span><svg width={22} height={8} aria-hidden><line x1={1} y1={4} x2={21} y2={4} stroke="var(--faint)" strokeDasharray="3 2" /></svg> {t('node.legendNuma')}</span>}
      </div>
    </div>
  )
}
