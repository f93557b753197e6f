// Allocated, used and total in one bar: always this order, always these colours.
import type { Amounts } from '../api/types'
import { useText } from '../i18n'

const part = (value: number, total: number) => `${total > 0 ? Math.min(100, Math.max(0, (100 * value) / total)) : 0}%`

interface Props {
  name: string
  amounts: Amounts
  show: (n: number) => string
  thin?: boolean
}

export function Bar({ name, amounts, show, thin }: Props) {
  const { t } = useText()
  const title = t('bar.title', { name, used: show(amounts.used), allocated: show(amounts.allocated), total: show(amounts.total) })
  return (
    <div className={thin ? 'bar thin' : 'bar'} role="img" aria-label={title} title={title}>
      <i style={{ width: part(amounts.allocated, amounts.total) }} />
      <b style={{ width: part(amounts.used, amounts.total) }} />
    </div>
  )
}

// In a table cell: the bar with its figures above.
export function CellBar({ name, amounts, show }: { name: string; amounts?: Amounts; show: (n: number) => string }) {
  if (!amounts || amounts.total <= 0) return <span className="faint">–</span>
  return (
    <div className="cellbar">
      <small>
        <span>{show(amounts.allocated)}</span>
        <span className="faint">{show(amounts.total)}</span>
      </small>
      <Bar name={name} amounts={amounts} show={show} thin />
    </div>
  )
}
