// Amounts and reasons of jobs in words.
import type { JobRow } from '../api/types'
import type { Text } from '../i18n'
import { lower } from './states'

// What it asks of GPUs, all tasks together: "2 cards", "1 × 16 GiB".
export function gpuAsk(job: JobRow, { t, f }: Text): string {
  const cards = job.gpu ?? 0
  if (cards === 0) return t('jobs.noGpu')
  const tasks = job.tasks ?? 1
  const slices = Math.max(1, Math.ceil(cards / tasks - 1e-9)) * tasks
  if (job.gpu_memory_mib) return t('jobs.slice', { memory: f.mib(job.gpu_memory_mib / slices), n: f.whole(slices) })
  return t('jobs.cards', { n: f.milli(cards), count: cards })
}

export function reasonText(reason: string | undefined, { t, has }: Text): string {
  if (!reason || reason === 'none') return ''
  return has(`reason.${reason}`) ? t(`reason.${reason}`) : reason
}

export function resourceName(name: string | undefined, { t, has }: Text): string {
  const key = lower(name)
  if (key && has(`resource.${key}`)) return t(`resource.${key}`)
  if (key.startsWith('quota_')) return `${t('resource.quota')}: ${resourceName(key.slice(6), { t, has } as Text)}`
  return name ?? ''
}

// An amount of a requirement in its own unit.
export function amount(n: number | undefined, unit: string | undefined, { t, f }: Text): string {
  const value = n ?? 0
  if (unit === 'MiB') return f.mib(value)
  if (unit === 'bytes') return f.bytes(value)
  if (unit === 'bytes/s') return f.rate(value)
  if (unit === 'cores') return t('unit.cores', { n: f.milli(value) })
  if (unit === 'cards') return t('unit.cards', { n: f.milli(value) })
  if (unit === 'IOPS') return t('unit.iops', { n: f.short(value) })
  return unit ? `${f.milli(value)} ${unit}` : f.milli(value)
}
