// A made-up cluster for development and tests of the console. Nothing here is Crater: amounts are invented, from a fixed seed.
const GIB = 1024 ** 3
const MODELS = {
  'h100-sxm5-80gb': { memory: 81920, sm: 132, cc: '9.0', cards: 8, nvlink: true, precisions: ['fp16', 'bf16', 'int8', 'fp8'] },
  'a100-sxm4-80gb': { memory: 81920, sm: 108, cc: '8.0', cards: 8, nvlink: true, precisions: ['fp16', 'bf16', 'int8', 'int4'] },
  'a100-pcie-40gb': { memory: 40960, sm: 108, cc: '8.0', cards: 4, nvlink: false, precisions: ['fp16', 'bf16', 'int8', 'int4'] },
  'l40s-48gb': { memory: 46068, sm: 142, cc: '8.9', cards: 4, nvlink: false, precisions: ['fp16', 'bf16', 'int8', 'fp8'] },
  'v100-sxm2-32gb': { memory: 32768, sm: 80, cc: '7.0', cards: 8, nvlink: true, precisions: ['fp16'] },
}
const QUEUES = [
  { name: 'training', policy: 'binpack', priority: 'medium', types: ['training'] },
  { name: 'inference', policy: 'spread', priority: 'high', types: ['inference', 'interactive'] },
  { name: 'offline', policy: 'priority', priority: 'low', default_preemptible: true, types: ['batch'] },
]
const TENANTS = ['research/vision', 'research/language', 'product/search', 'product/ads', 'platform']
const USERS = ['li.wei', 'anna', 'zhang.min', 'tomas', 'ci']
const NAMES = {
  training: ['resnet50', 'llama3-8b-sft', 'bert-large-pretrain', 'vit-huge', 'clip-finetune', 'whisper-distill', 'qwen2-lora', '语音识别-微调'],
  inference: ['llama-70b-chat', 'embedder', 'reranker', 'asr-online', 'ocr-serve'],
  batch: ['tokenize-shards', 'frames-extract', 'dedup', 'eval-suite', 'features-daily'],
  interactive: ['notebook', 'debug-shell'],
}

export function rng(seed) {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
const rand = rng(7)
const pick = (list) => list[Math.floor(rand() * list.length)]
const int = (a, b) => a + Math.floor(rand() * (b - a + 1))
const iso = (ms) => new Date(ms).toISOString()
const hex = (n) => Array.from({ length: n }, () => '0123456789abcdef'[int(0, 15)]).join('')
const step = (n, s) => Math.round(n / s) * s

function makeNode(i, now) {
  const modelNames = Object.keys(MODELS)
  const model = i % 10 === 9 ? null : modelNames[Math.floor(i / 20) % modelNames.length]
  const kind = model ? MODELS[model] : null
  const count = kind?.cards ?? 0
  const name = model ? `gpu-node-${String(i + 1).padStart(3, '0')}` : `cpu-node-${String(i + 1).padStart(3, '0')}`
  const simulated = i >= 180
  const domains = 2
  const perDomain = model ? 32 : 24
  const numa = Array.from({ length: domains }, (_, d) => ({
    id: d,
    cpus: Array.from({ length: perDomain * 2 }, (_, k) => (k < perDomain ? d * perDomain + k : domains * perDomain + d * perDomain + k - perDomain)),
    memory_bytes: 256 * GIB,
    memory_bandwidth_bytes: 187_400_000_000,
  }))
  const gpus = Array.from({ length: count }, (_, g) => ({
    index: g,
    model,
    uuid: `GPU-${hex(8)}-${hex(4)}-${hex(4)}-${hex(12)}`,
    pci_address: `0000:${(0x17 + g * 8).toString(16)}:00.0`,
    numa_node: g < count / 2 ? 0 : 1,
    memory_mib: kind.memory,
    sm_count: kind.sm,
    compute_capability: kind.cc,
    precisions: kind.precisions,
    memory_bandwidth_bytes: 1_555_000_000_000,
    nvlink_peers: kind.nvlink ? Array.from({ length: count }, (_, p) => p).filter((p) => p !== g) : [],
    healthy: !(i === 17 && g === 3),
    health_detail: i === 17 && g === 3 ? 'Xid 79: the card has fallen off the bus' : '',
  }))
  return {
    name,
    state: i === 43 ? 'lost' : i === 12 || i === 77 ? 'draining' : 'up',
    detail: i === 43 ? 'no heartbeat for 30 s' : i === 12 ? 'drained by anna: firmware' : '',
    labels: { zone: `zone-${'abcd'[Math.floor(i / 50)]}`, rack: `r${String(Math.floor(i / 10)).padStart(2, '0')}`, ...(model ? { gpu_type: model } : {}) },
    simulated,
    since: iso(now - int(1, 30) * 86_400_000),
    last_heartbeat: iso(now - int(1, 9) * 1000),
    inventory: {
      name,
      pools: model ? ['gpu-pool', 'cpu-pool'] : ['cpu-pool'],
      simulated,
      runtimes: ['process', 'docker'],
      agent_version: '0.1.0',
      os: 'Debian GNU/Linux 12, Linux 6.1.0',
      cpu_model: model ? 'Intel Xeon Platinum 8358' : 'AMD EPYC 7402P',
      sockets: domains,
      cpu_features: ['avx2', 'avx512f', 'avx512_vnni'],
      cpu: domains * perDomain * 2 - 8,
      cpu_reserved: 8,
      memory_bytes: 496 * GIB,
      numa,
      gpus,
      disks: [
        { name: 'nvme0n1', type: 'nvme', mount: '/data', numa_node: 0, capacity_bytes: 3_840_755_982_336, free_bytes: 2_100_000_000_000,
          iops: 812_000, latency_us: 92, bandwidth_bytes: 6_800_000_000, iops_stability_ratio: 0.93 },
        { name: 'sda', type: 'ssd', mount: '/', numa_node: -1, capacity_bytes: 480_103_981_056, free_bytes: 401_000_000_000,
          iops: 0, latency_us: 0, bandwidth_bytes: 0 },
      ],
      networks: [
        { name: 'eth0', speed_mbps: 25_000, numa_node: 0 },
        ...(model ? [{ name: 'ib0', speed_mbps: 200_000, rdma_device: 'mlx5_0', numa_node: 1 }] : []),
      ],
      enforcement: simulated
        ? { cpu: 'simulated', memory: 'simulated', pids: 'simulated', disk_io: 'simulated', gpu_memory: 'simulated', gpu_compute: 'simulated' }
        : { cpu: 'cgroup v2', memory: 'cgroup v2', pids: 'cgroup v2', disk_io: i % 7 === 0 ? 'advisory' : 'cgroup v2',
            gpu_memory: model ? (i % 7 === 0 ? 'advisory' : 'vgpu library') : '', gpu_compute: model ? (i % 7 === 0 ? 'advisory' : 'vgpu library') : '' },
      allow_unenforced: i % 7 === 0,
    },
    free: {
      cards: gpus.map((g) => ({ compute: 1, memory: g.memory_mib, slices: [] })),
      cpu: domains * perDomain * 2 - 8,
      memory: 496 * GIB,
      cores: Array.from({ length: domains * perDomain * 2 }, (_, k) => k),
    },
    held: [],
  }
}

function makeSpec(type, name) {
  const gpu = type === 'batch' ? (rand() < 0.6 ? null : { count: 0.5 }) : rand() < 0.45
    ? { count: 1, memory: `${pick([8, 10, 16, 20, 24])}Gi` }
    : { count: pick([1, 1, 2, 4, 8]), exclusive: rand() < 0.3 }
  const cards = gpu ? gpu.count : 0
  if (gpu && rand() < 0.3 && !gpu.memory) gpu.model = pick(['a100', 'h100', 'l40s'])
  return {
    name: `${name}-${int(1, 400)}`,
    type,
    queue: QUEUES.find((q) => q.types.includes(type)).name,
    tenant: pick(TENANTS),
    tasks: type === 'batch' && rand() < 0.3 ? int(2, 4) : 1,
    resources: { ...(gpu ? { gpu } : {}), cpu: { cores: Math.max(1, Math.ceil(cards) * 6) }, memory: { size: `${Math.max(4, Math.ceil(cards) * 24)}Gi` },
      ...(rand() < 0.4 ? { disk: { size: `${int(1, 20) * 10}Gi`, iops: int(1, 20) * 1000, io_profile: 'training' } } : {}) },
    ...(rand() < 0.5 ? { image: 'registry.internal/pytorch:2.1' } : {}),
    command: type === 'inference' ? ['python3', 'serve.py', '--port', '8000'] : ['python3', 'train.py', '--epochs', String(int(1, 30))],
    env: { EPOCHS: String(int(1, 30)), ...(rand() < 0.2 ? { HF_TOKEN: '***' } : {}) },
    preemptible: type === 'batch',
    grace_period: '30s',
    ...(type === 'inference' ? {} : { duration: `${int(1, 12)}h` }),
    restart: { policy: 'on_failure', max: 3 },
  }
}

const gib = (text) => {
  const [, n, unit] = /^(\d+(?:\.\d+)?)\s*([MGT]?)/i.exec(String(text ?? '0')) ?? [0, 0, '']
  return Number(n) * ({ M: 1 / 1024, T: 1024 }[String(unit).toUpperCase()] ?? 1)
}

// One task's slices on a node, or null when they do not fit.
export function place(node, spec, take) {
  const r = spec.resources ?? {}
  const gpu = r.gpu
  const cores = Number(r.cpu?.cores ?? 1)
  const memory = gib(r.memory?.size ?? '1Gi') * GIB
  if (node.state !== 'up') return { missing: 'state', detail: `the node is ${node.state}` }
  if (gpu?.model && !node.inventory.gpus.some((g) => g.model.includes(String(gpu.model).toLowerCase())))
    return { missing: 'gpu_model', detail: `needs ${gpu.model}, has ${node.inventory.gpus[0]?.model ?? 'no card'}` }
  if (node.free.cpu < cores) return { missing: 'cpu', detail: `needs ${cores} cores, ${node.free.cpu} free` }
  if (node.free.memory < memory) return { missing: 'memory', detail: `needs ${memory / GIB} GiB, ${Math.floor(node.free.memory / GIB)} GiB free` }
  const slices = []
  if (gpu && Number(gpu.count) > 0) {
    const count = Number(gpu.count)
    const memoryMib = gib(gpu.memory) * 1024
    const whole = count >= 1 && !memoryMib
    for (let i = 0; i < node.free.cards.length && slices.length < Math.ceil(count); i++) {
      const card = node.free.cards[i]
      const hardware = node.inventory.gpus[i]
      if (!hardware.healthy) continue
      const wantMemory = whole ? hardware.memory_mib : memoryMib || Math.ceil(hardware.memory_mib * count)
      const wantCompute = whole ? 1 : memoryMib ? step(memoryMib / hardware.memory_mib, 0.001) : count
      if (whole ? card.slices.length === 0 : card.memory >= wantMemory && card.compute >= wantCompute - 1e-9)
        slices.push({ index: i, uuid: hardware.uuid, compute: wantCompute, memory_mib: wantMemory, exclusive: whole, capped: count < 1 })
    }
    if (slices.length < Math.ceil(count)) {
      const most = Math.max(0, ...node.free.cards.map((c) => c.memory))
      return whole
        ? { missing: 'gpu_count', detail: `needs ${count} whole cards, ${node.free.cards.filter((c) => c.slices.length === 0).length} free` }
        : { missing: 'gpu_memory', detail: `needs ${gib(gpu.memory)} GiB on one card, at most ${(most / 1024).toFixed(1)} GiB free` }
    }
  }
  if (!take) return { slices }
  node.free.cpu -= cores
  node.free.memory -= memory
  for (const s of slices) {
    const card = node.free.cards[s.index]
    card.memory -= s.memory_mib
    card.compute -= s.compute
    card.slices.push({ job: take.job, task: take.task, compute: s.compute, memory_mib: s.memory_mib })
  }
  return {
    allocation: {
      node: node.name, gpus: slices, cpu: cores, cpu_set: slices.length > 0 ? node.free.cores.splice(0, cores) : [],
      numa_node: slices.length > 0 ? (slices[0].index < node.free.cards.length / 2 ? 0 : 1) : -1, memory_bytes: memory,
      ...(r.disk ? { disk: 'nvme0n1', disk_bytes: gib(r.disk.size) * GIB, disk_iops: Number(r.disk.iops ?? 0) } : {}),
    },
  }
}

export function release(cluster, job) {
  for (const task of job.tasks) {
    const a = task.allocation
    if (!a) continue
    const node = cluster.nodes.get(a.node)
    node.free.cpu += a.cpu
    node.free.memory += a.memory_bytes
    node.free.cores.push(...(a.cpu_set ?? []))
    for (const s of a.gpus) {
      const card = node.free.cards[s.index]
      card.memory += s.memory_mib
      card.compute += s.compute
      card.slices = card.slices.filter((x) => x.job !== job.row.id)
    }
    node.held = node.held.filter((h) => h.job !== job.row.id)
    task.allocation = undefined
  }
}

let made = 0
export function makeJob(spec, at, user) {
  const gpu = spec.resources?.gpu
  const tasks = Number(spec.tasks ?? 1)
  const type = spec.type ?? 'training'
  const priority = { low: 100, medium: 500, high: 700, critical: 900 }[spec.priority] ?? Number(spec.priority ?? (type === 'inference' ? 700 : type === 'batch' ? 100 : 500))
  made++
  return {
    spec,
    timeline: [{ at: iso(at), state: 'Pending', reason: 'submitted' }],
    tasks: Array.from({ length: tasks }, (_, index) => ({ index, state: 'Pending', reason: 'submitted', attempt: 0, since: iso(at), exit_code: -1 })),
    row: {
      id: `job-${String(made).padStart(6, '0')}-${hex(4)}`, name: spec.name, type, queue: spec.queue ?? 'training', tenant: spec.tenant ?? 'platform', user,
      state: 'Pending', reason: 'waiting_for_resources', priority, preemptible: spec.preemptible ?? false, tasks,
      gpu: gpu ? Number(gpu.count ?? 1) * tasks : 0, gpu_memory_mib: gib(gpu?.memory) * 1024 * tasks, cpu: Number(spec.resources?.cpu?.cores ?? 1) * tasks,
      memory_bytes: gib(spec.resources?.memory?.size ?? '1Gi') * GIB * tasks, nodes: [], submitted: iso(at), preemptions: 0, simulated: false,
    },
  }
}

export function move(job, at, state, reason, detail) {
  job.timeline.push({ at: iso(at), state, reason, detail })
  job.row.state = state
  job.row.reason = reason
  job.row.detail = detail
  for (const task of job.tasks) Object.assign(task, { state, reason, detail, since: iso(at) })
}

export function start(cluster, job, at, candidates) {
  const chosen = []
  for (const node of candidates) {
    while (chosen.length < job.tasks.length) {
      const found = place(node, job.spec, { job: job.row.id, task: chosen.length })
      if (!found.allocation) break
      chosen.push(found.allocation)
    }
    if (chosen.length === job.tasks.length) break
  }
  job.tasks.forEach((task, i) => { if (chosen[i]) task.allocation = chosen[i] })
  if (chosen.length < job.tasks.length) {
    release(cluster, job)
    return false
  }
  job.tasks.forEach((task, i) => {
    Object.assign(task, { attempt: task.attempt + 1, started: iso(at) })
    cluster.nodes.get(chosen[i].node).held.push({ job: job.row.id, name: job.row.name, task })
  })
  job.row.nodes = [...new Set(chosen.map((a) => a.node))]
  job.row.simulated = job.row.nodes.some((n) => cluster.nodes.get(n).simulated)
  if (job.row.nodes.some((n) => cluster.nodes.get(n).inventory.allow_unenforced)) job.row.enforcement = 'advisory'
  const terms = (s) => [
    { name: 'fit', value: s, weight: 1 }, { name: 'fragmentation', value: s * 0.9, weight: 0.8 }, { name: 'load', value: 1 - s * 0.5, weight: 0.5 }]
  job.decision = {
    policy: QUEUES.find((q) => q.name === job.row.queue)?.policy ?? 'best_fit',
    candidates: [chosen[0].node, ...[...cluster.nodes.keys()].slice(3, 8)].map((node, i) => ({ node, score: 0.91 - i * 0.06, terms: terms(0.95 - i * 0.08) })),
    rejections: [{ filter: 'gpu_count', nodes: 96, first_node: 'gpu-node-001', detail: 'needs 2 whole cards, 1 free' },
      { filter: 'gpu_model', nodes: 40, first_node: 'gpu-node-061', detail: 'needs a100, has l40s-48gb' }],
  }
  move(job, at, 'Preparing', 'placed', `on ${job.row.nodes[0]}`)
  return true
}

export function makeCluster({ nodes: nodeCount = 200, jobs: jobCount = 5000 } = {}) {
  const now = Date.now()
  const cluster = { started: now, nodes: new Map(), jobs: new Map(), queues: QUEUES, tenants: TENANTS, revision: 48_211 }
  for (let i = 0; i < nodeCount; i++) {
    const node = makeNode(i, now)
    cluster.nodes.set(node.name, node)
  }
  const nodes = [...cluster.nodes.values()]
  for (let i = 0; i < jobCount; i++) {
    const type = pick(['training', 'training', 'training', 'inference', 'batch', 'batch', 'interactive'])
    const at = now - (jobCount - i) * 45_000 - int(0, 40_000)
    const job = makeJob(makeSpec(type, pick(NAMES[type])), at, pick(USERS))
    cluster.jobs.set(job.row.id, job)
    const placedAt = Math.max(at + 1000, Math.min(at + int(1, 900) * 1000, now - int(60, 400) * 1000))
    if (i < jobCount - Math.min(700, nodeCount * 4)) {
      job.row.started = iso(placedAt + 4000)
      move(job, placedAt, 'Preparing', 'placed', '')
      move(job, placedAt + 4000, 'Running', 'process_started', '')
      job.row.nodes = [pick(nodes).name]
      const end = placedAt + int(60, 20_000) * 1000
      const how = rand()
      if (how < 0.85) move(job, end, 'Finished', 'exit_zero', '')
      else if (how < 0.9) move(job, end, 'Failed', 'exit_nonzero', `exit code ${pick([1, 3, 137])}`)
      else if (how < 0.93) move(job, end, 'Failed', 'out_of_memory', 'the limit of 32 GiB was reached')
      else if (how < 0.98) move(job, end, 'Cancelled', 'user_cancelled', '')
      else move(job, end, 'Evicted', 'admin_evicted', 'for maintenance')
      job.row.ended = iso(Math.min(end, now))
      for (const t of job.tasks) Object.assign(t, { attempt: 1, started: job.row.started, ended: job.row.ended, exit_code: how < 0.85 ? 0 : 1 })
    } else {
      const from = int(0, nodes.length - 1)
      if (start(cluster, job, placedAt, [...nodes.slice(from), ...nodes.slice(0, from)]) && rand() < 0.97) {
        job.row.started = iso(placedAt + 5000)
        if (rand() < 0.08) {
          move(job, placedAt + 5000, 'Running', 'process_started', '')
          move(job, placedAt + 605_000, 'Preempting', 'preempted_for', 'for job-004211')
          move(job, placedAt + 625_000, 'Preempted', 'preempted_for', 'for job-004211')
          move(job, placedAt + 626_000, 'Pending', 'requeued', '')
          move(job, Math.min(placedAt + 1_400_000, now - 20_000), 'Preparing', 'placed', '')
          job.row.preemptions = 1
        }
        move(job, Math.max(placedAt + 5000, Date.parse(job.timeline.at(-1).at) + 4000), 'Running', 'process_started', '')
      }
    }
  }
  return cluster
}
