// Times: relative, absolute on hover, the zone named.
import { useText } from '../i18n'
import { serverNow, useNow } from '../lib/clock'

export function Ago({ at }: { at?: string }) {
  const { f } = useText()
  useNow(5)
  if (!at) return <span className="faint">–</span>
  return <time dateTime={at} title={f.exact(at)}>{f.ago(serverNow() - Date.parse(at))}</time>
}

// How long from `from` to `to`, or to now and counting.
export function Span({ from, to }: { from?: string; to?: string }) {
  const { f } = useText()
  const now = useNow(to ? 86_400 : 1)
  if (!from) return <span className="faint">–</span>
  return <time title={f.exact(from)}>{f.span((to ? Date.parse(to) : now) - Date.parse(from))}</time>
}

export function At({ at }: { at?: string }) {
  const { f } = useText()
  if (!at) return <span className="faint">–</span>
  return <time dateTime={at} title={f.exact(at)}>{f.exact(at).replace(/ \([^)]*\)$/, '')}</time>
}
