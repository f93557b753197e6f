// What the API answers, as far as the console reads it. Names and fields are those of the OpenAPI schemas; test/openapi.test.ts
// holds them against build/openapi.json. Empty texts, lists and maps are left out of the JSON, so nearly all is optional.

export interface Page<T> {
  items: T[]
  next?: string
  total?: number
}

export interface JobRow {
  id: string
  name?: string
  type?: string
  queue?: string
  tenant?: string
  user?: string
  state: string
  reason?: string
  detail?: string
  priority?: number
  preemptible?: boolean
  tasks?: number
  gpu?: number
  gpu_memory_mib?: number
  cpu?: number
  memory_bytes?: number
  nodes?: string[]
  submitted?: string
  started?: string
  ended?: string
  preemptions?: number
  simulated?: boolean
  enforcement?: string
  estimate?: StartEstimate
}

// Half of the futures start it by p50, nine in ten by p90.
export interface StartEstimate {
  p50?: string
  p90?: string
  basis?: string
}

export interface GpuSlice {
  index?: number
  uuid?: string
  compute?: number
  memory_mib?: number
  exclusive?: boolean
  capped?: boolean
  partition?: string
  start?: number
}

export interface Allocation {
  node?: string
  gpus?: GpuSlice[]
  cpu?: number
  cpu_set?: number[]
  numa_node?: number
  memory_bytes?: number
  memory_bandwidth_bytes?: number
  disk?: string
  disk_bytes?: number
  disk_iops?: number
  disk_bandwidth_bytes?: number
  node_exclusive?: boolean
}

export interface TaskStatus {
  index?: number
  state?: string
  reason?: string
  detail?: string
  attempt?: number
  since?: string
  allocation?: Allocation
  exit_code?: number
  started?: string
  ended?: string
}

export interface StateChange {
  at?: string
  state?: string
  reason?: string
  detail?: string
}

export interface ScoreTerm {
  name?: string
  value?: number
  weight?: number
}

export interface Candidate {
  node?: string
  score?: number
  terms?: ScoreTerm[]
}

export interface Rejection {
  filter?: string
  nodes?: number
  first_node?: string
  detail?: string
}

export interface DecisionTrace {
  policy?: string
  candidates?: Candidate[]
  rejections?: Rejection[]
}

// A job file as a tree. Amounts are texts with units ("16Gi") or numbers; the console edits it as YAML.
export type JobSpec = Record<string, unknown>

export interface JobView {
  job: JobRow
  spec?: JobSpec
  tasks?: TaskStatus[]
  timeline?: StateChange[]
  decision?: DecisionTrace
  notes?: string[]
  no_estimate?: string
}

export interface Amounts {
  allocated: number
  used: number
  total: number
}

export interface ResourceBars {
  gpu: Amounts
  gpu_memory_mib: Amounts
  cpu: Amounts
  memory_bytes: Amounts
  disk_bytes: Amounts
  iops: Amounts
}

export interface CardSlice {
  job?: string
  task?: number
  compute?: number
  memory_mib?: number
}

export interface CardView {
  index?: number
  model?: string
  uuid?: string
  healthy?: boolean
  health_detail?: string
  memory_total_mib?: number
  memory_allocated_mib?: number
  memory_used_mib?: number
  compute_allocated?: number
  utilization_percent?: number
  temperature_celsius?: number
  power_watts?: number
  slices?: CardSlice[]
}

export interface NodeRow {
  name: string
  state: string
  detail?: string
  labels?: Record<string, string>
  simulated?: boolean
  resources?: ResourceBars
  cards?: CardView[]
  tasks?: number
  since?: string
  last_heartbeat?: string
}

export interface NodeTask {
  job?: string
  name?: string
  task?: TaskStatus
}

export interface Gpu {
  index?: number
  model?: string
  uuid?: string
  pci_address?: string
  numa_node?: number
  memory_mib?: number
  sm_count?: number
  compute_capability?: string
  precisions?: string[]
  memory_bandwidth_bytes?: number
  nvlink_peers?: number[]
  healthy?: boolean
  health_detail?: string
  mig_enabled?: boolean
}

export interface NumaDomain {
  id?: number
  cpus?: number[]
  core_of?: number[]
  memory_bytes?: number
  memory_bandwidth_bytes?: number
}

export interface Disk {
  name?: string
  type?: string
  mount?: string
  numa_node?: number
  capacity_bytes?: number
  free_bytes?: number
  iops?: number
  latency_us?: number
  bandwidth_bytes?: number
  iops_stability_ratio?: number
}

export interface NetworkInterface {
  name?: string
  speed_mbps?: number
  rdma_device?: string
  numa_node?: number
}

export interface Enforcement {
  cpu?: string
  memory?: string
  pids?: string
  disk_io?: string
  gpu_memory?: string
  gpu_compute?: string
}

export interface NodeInventory {
  name?: string
  labels?: Record<string, string>
  pools?: string[]
  simulated?: boolean
  runtimes?: string[]
  agent_version?: string
  os?: string
  cpu_model?: string
  sockets?: number
  cpu_features?: string[]
  cpu?: number
  cpu_reserved?: number
  memory_bytes?: number
  numa?: NumaDomain[]
  gpus?: Gpu[]
  disks?: Disk[]
  networks?: NetworkInterface[]
  enforcement?: Enforcement
  allow_unenforced?: boolean
  checkpoint_path?: string
  cache?: { datasets?: CachedItem[]; models?: CachedItem[] }
}

export interface CachedItem {
  id: string
  size_bytes?: number
}

export interface NodeSample {
  at?: string
  cpu_percent?: number
  load1?: number
  memory_used_bytes?: number
  memory_total_bytes?: number
  swap_used_bytes?: number
  disk_busy_percent?: number
  disk_read_iops?: number
  disk_write_iops?: number
  disk_read_bytes?: number
  disk_write_bytes?: number
  network_receive_bytes?: number
  network_transmit_bytes?: number
  disk_free_bytes?: number
}

export interface NodeView {
  node: NodeRow
  inventory?: NodeInventory
  sample?: NodeSample
  held?: NodeTask[]
}

export interface TopologyVertex {
  id?: string
  kind?: string
  label?: string
}

export interface TopologyEdge {
  from?: string
  to?: string
  kind?: string
  label?: string
}

export interface TopologyView {
  vertices?: TopologyVertex[]
  edges?: TopologyEdge[]
}

export interface QueueSpec {
  name: string
  policy?: string
  order?: string
  priority?: string | number
  default_preemptible?: boolean
  preempt_factor?: number
  reserved_gpu?: number
  types?: string[]
}

export interface QueueView {
  spec: QueueSpec
  waiting?: number
  running?: number
  oldest?: string
  wait_p50_seconds?: number
  wait_p95_seconds?: number
}

export interface Problem {
  kind?: string
  subject?: string
  text?: string
  since?: string
}

export interface NodeCounts {
  up?: number
  draining?: number
  lost?: number
  simulated?: number
}

export interface FreeSlice {
  model?: string
  simulated?: boolean
  whole_cards?: number
  cards_on_one_node?: number
  largest_mib?: number
  node?: string
}

// Whose token asked: the console needs it for "mine".
export interface Identity {
  name?: string
  role?: string
  tenant?: string
}

export interface ClusterView {
  name?: string
  version?: string
  capabilities?: string[]
  pools?: string[]
  health?: string
  nodes?: NodeCounts
  jobs?: Record<string, number>
  resources?: ResourceBars
  free?: FreeSlice[]
  queues?: QueueView[]
  problems?: Problem[]
  revision?: number
  state_hash?: string
  state_hash_verified?: boolean
  now?: string
  you?: Identity
}

export interface Tenant {
  path?: string
}

export interface EventView {
  sequence?: number
  at?: string
  kind?: string
  subject?: string
  state?: string
  reason?: string
  detail?: string
}

export interface MetricPoint {
  at?: string
  cpu_cores?: number
  memory_bytes?: number
  read_bytes?: number
  write_bytes?: number
  gpu_percent?: number
  gpu_memory_mib?: number
}

export interface TaskSeries {
  task?: number
  points?: MetricPoint[]
}

export interface JobMetrics {
  series?: TaskSeries[]
}

export interface FitView {
  fits_now: boolean
  fits_ever: boolean
  summary?: string
  nodes?: string[]
  decision?: DecisionTrace
  notes?: string[]
}

export interface Holder {
  job?: string
  node?: string
  holds?: string
}

export interface Requirement {
  name?: string
  unit?: string
  needs?: number
  best_has?: number
  best_total?: number
  best_node?: string
  nodes_short?: number
  binding?: boolean
}

export interface NodeVerdict {
  node?: string
  filter?: string
  detail?: string
}

export interface Change {
  kind: string
  text?: string
  from?: number
  to?: number
  unit?: string
  value?: string
}

export interface Why {
  summary?: string
  binding?: string
  rank?: number
  queue_length?: number
  requirements?: Requirement[]
  rejections?: Rejection[]
  holders?: Holder[]
  nodes?: NodeVerdict[]
  estimate?: StartEstimate
  no_estimate?: string
  fitting?: number
  changes?: Change[]
  more_changes?: boolean
}
