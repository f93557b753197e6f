// The `crater job submit` line that does the same as a job file; when some key has no option of its own, the one that reads the file.
import type { JobSpec } from '../api/types'
import { parseGpuMemory } from './format'

export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

// Options of apps/crater/commands/job_options.cc that take the value as it stands.
const OPTIONS: Record<string, string> = {
  name: '--name', image: '--image', type: '--type', queue: '--queue', tenant: '--tenant', priority: '--priority', tasks: '--tasks', grace_period: '--grace-period',
  max_queue_time: '--max-queue-time', duration: '--duration', time_limit: '--time-limit', working_dir: '--working-dir', 'resources.gpu.count': '--gpu', 'resources.gpu.model': '--gpu-model',
  'resources.cpu.cores': '--cpu', 'resources.memory.size': '--memory', 'resources.disk.size': '--disk', 'resources.disk.iops': '--disk-io',
}

interface Mount { source?: string; target?: string; read_only?: boolean }

function leaves(tree: unknown, path = ''): [string, unknown][] {
  if (tree !== null && typeof tree === 'object' && !Array.isArray(tree) && path !== 'env')
    return Object.entries(tree as Record<string, unknown>).flatMap(([key, value]) => leaves(value, path ? `${path}.${key}` : key))
  return [[path, tree]]
}

export interface Cli { line: string; whole: boolean }

export function cliOf(spec: JobSpec): Cli {
  const parts = ['crater job submit']
  const all = new Map(leaves(spec))
  let words = ''
  let whole = true
  for (const [path, value] of all) {
    if (OPTIONS[path]) parts.push(`${OPTIONS[path]} ${quote(String(value))}`)
    else if (path === 'resources.gpu.memory') {
      // The option is the total over a task's cards in MiB.
      const each = parseGpuMemory(value as string)
      if (each === null) whole = false
      else parts.push(`--gpu-memory ${Math.ceil(each * Math.max(1, Number(all.get('resources.gpu.count') ?? 1)))}`)
    } else if (path === 'resources.gpu.exclusive') { if (value) parts.push('--gpu-exclusive') }
    else if (path === 'preemptible') parts.push(value ? '--preemptible' : '--no-preemptible')
    else if (path === 'command' && Array.isArray(value)) words = `-- ${value.map((x) => quote(String(x))).join(' ')}`
    else if (path === 'command') parts.push(`--command ${quote(String(value))}`)
    else if (path === 'env') for (const [k, v] of Object.entries(value as Record<string, unknown>)) parts.push(`--env ${quote(`${k}=${v}`)}`)
    else if (path === 'mounts' && Array.isArray(value)) for (const m of value as Mount[]) parts.push(`--mount ${quote(`${m.source}:${m.target}${m.read_only ? ':ro' : ''}`)}`)
    else whole = false
  }
  if (!whole) return { line: 'crater job submit --file job.yaml', whole }
  return { line: (words ? [...parts, words] : parts).join(' \\\n  '), whole }
}

// "python3 train.py --lr 1e-4" as a list where it is plain words, as one text for the shell where it is more.
export function commandValue(text: string): string | string[] | undefined {
  const trimmed = text.trim()
  if (!trimmed) return undefined
  return /^[A-Za-z0-9_@%+:,./=\s-]+$/.test(trimmed) && !/^\S*=/.test(trimmed) && !trimmed.includes('\n') ? trimmed.split(/\s+/) : trimmed
}
export function commandText(value: unknown): string {
  if (Array.isArray(value)) return value.map((x) => quote(String(x))).join(' ')
  return typeof value === 'string' ? value : ''
}

export function envValue(text: string): Record<string, string> | undefined {
  const out: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const at = line.indexOf('=')
    if (at > 0) out[line.slice(0, at).trim()] = line.slice(at + 1)
  }
  return Object.keys(out).length > 0 ? out : undefined
}
export const envText = (value: unknown): string =>
  value !== null && typeof value === 'object' ? Object.entries(value as Record<string, unknown>).map(([k, v]) => `${k}=${String(v)}`).join('\n') : ''
