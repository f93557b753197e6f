// The six bars of a cluster or a node with their figures.
import type { Amounts, ResourceBars } from '../api/types'
import { useText } from '../i18n'
import type { Format } from '../lib/format'
import { Bar } from './Bar'

const ROWS: [keyof ResourceBars, (f: Format) => (n: number) => string][] = [
  ['gpu', (f) => (n) => f.number(n, n < 100 ? 1 : 0)],
  ['gpu_memory_mib', (f) => f.mib],
  ['cpu', (f) => (n) => f.number(n, n < 100 ? 1 : 0)],
  ['memory_bytes', (f) => f.bytes],
  ['disk_bytes', (f) => f.bytes],
  ['iops', (f) => f.short],
]

export function ResourceTable({ bars }: { bars: ResourceBars }) {
  const { t, f } = useText()
  const rows = ROWS.filter(([key]) => bars[key].total > 0)
  const share = (a: Amounts) => f.percent(a.total > 0 ? a.allocated / a.total : 0)
  if (rows.length === 0) return <div className="empty">{t('bar.nothing')}</div>
  return (
    <div className="bars" title={t('bar.live')}>
      <span className="gap" />
      <span className="gap" />
      <span className="h used">{t('bar.used')}</span>
      <span className="h allocated">{t('bar.allocated')}</span>
      <span className="gap" />
      <span className="h total">{t('bar.total')}</span>
      {rows.map(([key, format]) => {
        const show = format(f)
        const a = bars[key]
        return (
          <div className="line" key={key}>
            <span>{t(`resource.${key}`)}</span>
            <Bar name={t(`resource.${key}`)} amounts={a} show={show} />
            <span className="num soft" title={f.whole(a.used)}>{show(a.used)}</span>
            <span className="num" title={f.whole(a.allocated)}>{show(a.allocated)}</span>
            <span className="num faint">{share(a)}</span>
            <span className="num" title={f.whole(a.total)}>{show(a.total)}</span>
          </div>
        )
      })}
    </div>
  )
}
