// Which mechanism holds each limit; "advisory" and "simulated" stand out.
import type { Enforcement, NodeInventory } from '../../api/types'
import { useText } from '../../i18n'
import { resourceName } from '../../lib/words'

const KEYS: (keyof Enforcement)[] = ['cpu', 'memory', 'pids', 'disk_io', 'gpu_memory', 'gpu_compute']

export function Enforced({ inventory }: { inventory: NodeInventory }) {
  const text = useText()
  const { t } = text
  const by = inventory.enforcement ?? {}
  const mark = (how: string) => {
    if (how === 'advisory') return <span className="mark advisory" title={t('hint.advisory')}>{t('word.advisory')}</span>
    if (how === 'simulated') return <span className="mark" title={t('hint.simulated')}>{t('word.simulated')}</span>
    return <span>{how}</span>
  }
  return (
    <>
      <dl className="facts" title={t('node.enforcementHint')}>
        {KEYS.filter((k) => by[k]).map((k) => <div key={k} style={{ display: 'contents' }}><dt>{resourceName(k, text)}</dt><dd>{mark(by[k]!)}</dd></div>)}
      </dl>
      {inventory.allow_unenforced && <p className="soft small" style={{ margin: '8px 0 0' }}>{t('node.unenforced')}</p>}
    </>
  )
}
