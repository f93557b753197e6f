// Numbers, amounts and times as people read them, in either language. Pure: `makeFormat(language)`.
// Memory and disk are binary (GiB), bandwidth is decimal (GB/s), GPU memory arrives in MiB.
export type Language = 'en' | 'zh'

const MIB = 1024 * 1024
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const DECIMAL = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']
const SPAN = {
  en: { d: 'd', h: 'h', m: 'm', s: 's', ms: 'ms' },
  zh: { d: '天', h: '时', m: '分', s: '秒', ms: '毫秒' },
}

export function makeFormat(language: Language) {
  const locale = language === 'zh' ? 'zh-CN' : 'en-GB'
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const compact = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-US', { notation: 'compact', maximumFractionDigits: 1 })
  const digits = [0, 1, 2, 3].map((n) => new Intl.NumberFormat(locale, { maximumFractionDigits: n }))
  const ratio = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
  const relative = new Intl.RelativeTimeFormat(locale, { style: 'narrow', numeric: 'always' })
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })

  const scaled = (value: number, units: string[], base: number) => {
    let unit = 0
    let amount = Math.abs(value)
    while (amount >= base && unit < units.length - 1) {
      amount /= base
      unit++
    }
    // 1023.99 GiB reads 1 TiB, not 1,024 GiB.
    if (Math.round(amount * 10) / 10 >= base && unit < units.length - 1) {
      amount /= base
      unit++
    }
    const shown = digits[amount >= 100 || unit === 0 ? 0 : 1].format(amount)
    return `${value < 0 ? '-' : ''}${shown} ${units[unit]}`
  }

  const span = (ms: number): string => {
    const u = SPAN[language]
    if (ms < 0) ms = 0
    if (ms > 0 && ms < 1000) return `${Math.round(ms)}${u.ms}`
    const s = Math.floor(ms / 1000)
    const two = (n: number) => String(n).padStart(2, '0')
    if (s < 60) return `${s}${u.s}`
    if (s < 3600) return `${Math.floor(s / 60)}${u.m}${two(s % 60)}${u.s}`
    if (s < 86_400) return `${Math.floor(s / 3600)}${u.h}${two(Math.floor((s % 3600) / 60))}${u.m}`
    return `${Math.floor(s / 86_400)}${u.d}${two(Math.floor((s % 86_400) / 3600))}${u.h}`
  }

  return {
    language,
    zone,
    whole: (n = 0) => plain.format(n),
    number: (n = 0, fraction = 1) => digits[fraction].format(n),
    fixed: (n = 0, fraction = 2) => n.toFixed(fraction),
    // 12,345 shortened; show `whole` on hover.
    short: (n = 0) => (Math.abs(n) < 10_000 ? digits[Math.abs(n) < 100 ? 1 : 0].format(n) : compact.format(n)),
    // Cores and cards, to a thousandth.
    milli: (n = 0) => digits[3].format(n),
    percent: (part: number) => ratio.format(Number.isFinite(part) ? part : 0),
    bytes: (n = 0) => scaled(n, BINARY, 1024),
    mib: (n = 0) => scaled(n * MIB, BINARY, 1024),
    rate: (n = 0) => scaled(n, DECIMAL, 1000),
    span,
    seconds: (s = 0) => span(s * 1000),
    ago: (ms: number) => {
      const s = Math.round(ms / 1000)
      const size = Math.abs(s)
      if (size < 60) return relative.format(-s, 'second')
      if (size < 3600) return relative.format(-Math.round(s / 60), 'minute')
      if (size < 86_400) return relative.format(-Math.round(s / 3600), 'hour')
      return relative.format(-Math.round(s / 86_400), 'day')
    },
    exact: (at: string | number) => `${date.format(new Date(at))} (${zone})`,
    clock: (at: string | number) => clock.format(new Date(at)),
  }
}
export type Format = ReturnType<typeof makeFormat>

// [0,1,2,3,8,9] → "0-3,8-9"
export function ranges(numbers: number[] = []): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const parts: string[] = []
  for (let i = 0; i < sorted.length; ) {
    let j = i
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++
    parts.push(i === j ? String(sorted[i]) : `${sorted[i]}-${sorted[j]}`)
    i = j + 1
  }
  return parts.join(',')
}

// GPU memory of a request in MiB, as the scheduler reads it: "16Gi", "16G", "16GB" are 16 GiB, a bare number counts MiB.
export function parseGpuMemory(text: string | number): number | null {
  const m = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])i?b?)?\s*$/i.exec(String(text))
  if (!m) return null
  const scale = { k: 1 / 1024, m: 1, g: 1024, t: 1024 * 1024 }[(m[2] ?? 'm').toLowerCase() as 'k' | 'm' | 'g' | 't']
  return Math.ceil(Number(m[1]) * scale)
}
