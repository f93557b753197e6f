import { Link } from 'react-router-dom'

export function Labels({ labels = {}, short }: { labels?: Record<string, string>; short?: boolean }) {
  const all = Object.entries(labels)
  if (all.length === 0) return <span className="faint">–</span>
  return (
    <span title={all.map(([k, v]) => `${k}=${v}`).join('\n')}>
      {all.map(([k, v]) => <Link key={k} className="label" to={`/nodes?label=${encodeURIComponent(`${k}=${v}`)}`}>{!short && <span className="faint">{k} </span>}{v}</Link>)}
    </span>
  )
}
