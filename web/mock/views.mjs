// The mock's answers in the shapes of lib/api/include/crater/api/views.h.
import { place } from './data.mjs'

const GIB = 1024 ** 3

// The API leaves empty texts, lists and maps out.
export function prune(value) {
  if (Array.isArray(value)) return value.map(prune)
  if (value === null || typeof value !== 'object') return value
  const out = {}
  for (const [key, v] of Object.entries(value)) {
    if (v === undefined || v === '' || v === null) continue
    const kept = prune(v)
    const required = key === 'items'
    if (!required && kept !== null && typeof kept === 'object' && Object.keys(kept).length === 0) continue
    out[key] = kept
  }
  return out
}

// Live use, different in each card and each few seconds, without state.
const wave = (seed) => {
  let h = 0
  for (const c of seed) h = (h * 31 + c.charCodeAt(0)) >>> 0
  return 0.55 + 0.4 * Math.sin((h % 628) / 100 + Date.now() / 60_000) * ((h % 7) / 7)
}

function card(n, g, i) {
  const free = n.free.cards[i]
  const allocated = g.memory_mib - free.memory
  const busy = free.slices.length > 0 ? wave(g.uuid) : 0
  return {
    index: i, model: g.model, uuid: g.uuid, healthy: g.healthy, health_detail: g.health_detail,
    memory_total_mib: g.memory_mib, memory_allocated_mib: allocated, memory_used_mib: Math.round(allocated * busy),
    compute_allocated: Math.round((1 - free.compute) * 1000) / 1000,
    utilization_percent: Math.round(busy * 100), temperature_celsius: Math.round(31 + busy * 45), power_watts: Math.round(55 + busy * 310),
    slices: free.slices,
  }
}

export function bars(nodes) {
  const sum = () => ({ allocated: 0, used: 0, total: 0 })
  const r = { gpu: sum(), gpu_memory_mib: sum(), cpu: sum(), memory_bytes: sum(), disk_bytes: sum(), iops: sum() }
  const add = (key, allocated, used, total) => { r[key].allocated += allocated; r[key].used += used; r[key].total += total }
  for (const n of nodes) {
    if (n.state === 'lost') continue
    n.inventory.gpus.forEach((g, i) => {
      const c = card(n, g, i)
      add('gpu', c.compute_allocated, c.utilization_percent / 100, 1)
      add('gpu_memory_mib', c.memory_allocated_mib, c.memory_used_mib, c.memory_total_mib)
    })
    const cpu = n.inventory.cpu - n.free.cpu
    const memory = n.inventory.memory_bytes - n.free.memory
    add('cpu', cpu, cpu * wave(n.name), n.inventory.cpu)
    add('memory_bytes', memory, memory * wave(`${n.name}m`) + 4 * GIB, n.inventory.memory_bytes)
    const disks = n.held.map((h) => h.task.allocation)
    add('disk_bytes', disks.reduce((s, a) => s + (a?.disk_bytes ?? 0), 0), 1_300_000_000_000, 3_840_755_982_336)
    add('iops', disks.reduce((s, a) => s + (a?.disk_iops ?? 0), 0), 9_000 * wave(`${n.name}d`), 812_000)
  }
  for (const a of Object.values(r)) for (const k of Object.keys(a)) a[k] = Math.round(a[k] * 1000) / 1000
  return r
}

export function nodeRow(n) {
  return {
    name: n.name, state: n.state, detail: n.detail, labels: n.labels, simulated: n.simulated, resources: bars([n.state === 'lost' ? { ...n, state: 'up' } : n]),
    cards: n.inventory.gpus.map((g, i) => card(n, g, i)), tasks: n.held.length, since: n.since,
    last_heartbeat: n.state === 'lost' ? n.last_heartbeat : new Date(Date.now() - 3000).toISOString(),
  }
}

export function nodeView(n) {
  const row = nodeRow(n)
  return {
    node: row,
    inventory: { ...n.inventory, labels: n.labels },
    sample: {
      at: new Date().toISOString(), cpu_percent: 100 * row.resources.cpu.used / row.resources.cpu.total, load1: 18.4,
      memory_used_bytes: row.resources.memory_bytes.used, memory_total_bytes: n.inventory.memory_bytes, swap_used_bytes: 0,
      disk_busy_percent: 22, disk_read_iops: 8_400, disk_write_iops: 610, disk_read_bytes: 940e6, disk_write_bytes: 61e6,
      network_receive_bytes: 310e6, network_transmit_bytes: 92e6, disk_free_bytes: 2.1e12,
    },
    held: n.held,
  }
}

export function topology(n) {
  const vertices = [{ id: 'node', kind: 'node', label: n.name }]
  const edges = []
  const child = (id, kind, label, numa) => {
    vertices.push({ id, kind, label })
    edges.push({ from: numa >= 0 ? `numa${numa}` : 'node', to: id, kind: 'contains' })
  }
  for (const d of n.inventory.numa) child(`numa${d.id}`, 'numa', `NUMA ${d.id}: ${d.cpus.length} CPUs, 256 GiB`, -1)
  edges.push({ from: 'numa0', to: 'numa1', kind: 'numa', label: '21' })
  for (const g of n.inventory.gpus) child(`gpu${g.index}`, 'gpu', `${g.index}: ${g.model}`, g.numa_node)
  for (const g of n.inventory.gpus)
    for (const p of g.nvlink_peers) if (p > g.index) edges.push({ from: `gpu${g.index}`, to: `gpu${p}`, kind: 'nvlink', label: 'NV12' })
  for (const d of n.inventory.disks) child(d.name, 'disk', `${d.name} ${d.type}`, d.numa_node)
  for (const i of n.inventory.networks) child(i.name, 'nic', `${i.name} ${i.speed_mbps / 1000} Gbit/s`, i.numa_node ?? -1)
  return { vertices, edges }
}

export function queueView(cluster, spec) {
  const mine = [...cluster.jobs.values()].filter((j) => j.row.queue === spec.name)
  const waiting = mine.filter((j) => j.row.state === 'Pending')
  return {
    spec, waiting: waiting.length, running: mine.filter((j) => ['Preparing', 'Running'].includes(j.row.state)).length,
    oldest: waiting.map((j) => j.row.submitted).sort()[0], wait_p50_seconds: spec.name === 'inference' ? 3.2 : 94.5, wait_p95_seconds: spec.name === 'inference' ? 41 : 2710,
  }
}

export function cluster(c) {
  const nodes = [...c.nodes.values()]
  const jobs = {}
  for (const j of c.jobs.values()) jobs[j.row.state] = (jobs[j.row.state] ?? 0) + 1
  const counts = { up: 0, draining: 0, lost: 0, simulated: nodes.filter((n) => n.simulated).length }
  for (const n of nodes) counts[n.state]++
  const free = new Map()
  for (const n of nodes) {
    if (n.state !== 'up') continue
    const whole = n.free.cards.filter((x, i) => x.slices.length === 0 && n.inventory.gpus[i].healthy).length
    for (const [i, x] of n.free.cards.entries()) {
      const model = n.inventory.gpus[i].model
      const key = `${model} ${n.simulated}`
      const f = free.get(key) ?? { model, simulated: n.simulated, whole_cards: 0, cards_on_one_node: 0, largest_mib: 0, node: '' }
      if (x.slices.length === 0) f.whole_cards++
      f.cards_on_one_node = Math.max(f.cards_on_one_node, whole)
      if (x.memory > f.largest_mib) Object.assign(f, { largest_mib: x.memory, node: n.name })
      free.set(key, f)
    }
  }
  const problems = []
  for (const n of nodes) {
    if (n.state === 'lost') problems.push({ kind: 'node_lost', subject: n.name, text: `${n.name} is not heard; ${n.held.length} tasks were on it`, since: n.last_heartbeat })
    for (const g of n.inventory.gpus) if (!g.healthy) problems.push({ kind: 'card_unhealthy', subject: n.name, text: `card ${g.index} of ${n.name}: ${g.health_detail}`, since: n.since })
  }
  return {
    name: 'crater-dev', version: '0.1.0-mock', capabilities: ['gpu_sharing', 'preemption'], nodes: counts, jobs, resources: bars(nodes), free: [...free.values()],
    queues: c.queues.map((q) => queueView(c, q)), problems, revision: c.revision, state_hash: '9f2c41d07be3a155', state_hash_verified: true,
    now: new Date().toISOString(), you: { name: 'dev', role: 'admin' },
  }
}

export function why(c, j) {
  const nodes = []
  const rejected = new Map()
  for (const n of c.nodes.values()) {
    const found = place(n, j.spec)
    nodes.push({ node: n.name, filter: found.missing, detail: found.detail })
    if (found.missing) {
      const r = rejected.get(found.missing) ?? { filter: found.missing, nodes: 0, first_node: n.name, detail: found.detail }
      r.nodes++
      rejected.set(found.missing, r)
    }
  }
  const rejections = [...rejected.values()].sort((a, b) => b.nodes - a.nodes)
  const r = j.spec.resources ?? {}
  const wholes = [...c.nodes.values()].map((n) => [n.state === 'up' ? n.free.cards.filter((x) => x.slices.length === 0).length : 0, n]).sort((a, b) => b[0] - a[0])[0]
  const cpu = [...c.nodes.values()].sort((a, b) => b.free.cpu - a.free.cpu)[0]
  const memory = [...c.nodes.values()].sort((a, b) => b.free.memory - a.free.memory)[0]
  const requirements = []
  const binding = rejections.find((x) => !['state', 'gpu_model'].includes(x.filter))?.filter ?? 'order'
  if (r.gpu) requirements.push({ name: 'gpu_count', unit: 'cards', needs: Number(r.gpu.count ?? 1), best_has: wholes[0], best_total: wholes[1].inventory.gpus.length, best_node: wholes[1].name, nodes_short: rejected.get('gpu_count')?.nodes ?? 0, binding: binding.startsWith('gpu') })
  requirements.push({ name: 'cpu', unit: 'cores', needs: Number(r.cpu?.cores ?? 1), best_has: cpu.free.cpu, best_total: cpu.inventory.cpu, best_node: cpu.name, nodes_short: rejected.get('cpu')?.nodes ?? 0, binding: binding === 'cpu' })
  requirements.push({ name: 'memory', unit: 'bytes', needs: Number(String(r.memory?.size ?? '1Gi').replace('Gi', '')) * GIB, best_has: memory.free.memory, best_total: memory.inventory.memory_bytes, best_node: memory.name, nodes_short: rejected.get('memory')?.nodes ?? 0, binding: binding === 'memory' })
  const queue = [...c.jobs.values()].filter((x) => x.row.state === 'Pending' && x.row.queue === j.row.queue)
  const holders = [...c.jobs.values()].filter((x) => x.row.state === 'Running' && x.row.gpu >= 2).slice(0, 10).map((x) => ({ job: x.row.id, node: x.row.nodes[0], holds: `${x.row.gpu} cards` }))
  const b = rejections[0]
  return { summary: b ? `It waits for ${binding.replace('_', ' ')}: ${b.detail} on ${b.first_node}.` : 'Jobs ahead of it in the queue come first.', binding, rank: queue.indexOf(j) + 1, queue_length: queue.length, requirements, rejections, holders, nodes }
}

export function fit(c, spec) {
  const nodes = [...c.nodes.values()]
  const rejected = new Map()
  for (const n of nodes) {
    const found = place(n, spec)
    if (!found.missing) return { fits_now: true, fits_ever: true, summary: `It would start now on ${n.name}.`, nodes: [n.name], notes: spec.resources?.memory ? [] : ['memory would be filled in: 8 GiB per card'], decision: { policy: 'binpack', candidates: [{ node: n.name, score: 0.9 }] } }
    const r = rejected.get(found.missing) ?? { filter: found.missing, nodes: 0, first_node: n.name, detail: found.detail }
    r.nodes++
    rejected.set(found.missing, r)
  }
  const rejections = [...rejected.values()].sort((a, b) => b.nodes - a.nodes)
  const ever = Number(spec.resources?.gpu?.count ?? 0) <= 8 && Number(spec.resources?.cpu?.cores ?? 0) <= 120
  return { fits_now: false, fits_ever: ever, summary: ever ? `It would wait: ${rejections[0].detail} on ${rejections[0].first_node}.` : 'No node has that much: the largest has 8 cards and 120 cores.', decision: { rejections } }
}

export function metrics(j) {
  const from = Date.parse(j.row.started ?? '')
  if (Number.isNaN(from)) return { series: [] }
  const to = j.row.ended ? Date.parse(j.row.ended) : Date.now()
  const n = 240
  return {
    series: j.tasks.map((t) => ({
      task: t.index,
      points: Array.from({ length: n }, (_, i) => {
        const at = Math.max(from, to - 3_600_000) + (i / (n - 1)) * Math.min(to - from, 3_600_000)
        const w = 0.72 + 0.2 * Math.sin(i / 9 + t.index) + 0.06 * Math.sin(i * 1.7)
        return { at: new Date(at).toISOString(), cpu_cores: j.row.cpu / j.row.tasks * w, memory_bytes: j.row.memory_bytes / j.row.tasks * Math.min(0.9, 0.3 + i / 300),
          read_bytes: i * 4.1e8 * (1 + 0.3 * Math.sin(i / 20)), write_bytes: i * 2.2e7, gpu_percent: j.row.gpu ? 100 * Math.min(1, w) : 0,
          gpu_memory_mib: j.row.gpu ? (j.row.gpu_memory_mib || 40960 * j.row.gpu) / j.row.tasks * 0.8 : 0 }
      }),
    })),
  }
}
