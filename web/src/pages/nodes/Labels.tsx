export function Labels({ labels = {} }: { labels?: Record<string, string> }) {
  const all = Object.entries(labels)
  if (all.length === 0) return <span className="faint">–</span>
  return <span title={all.map(([k, v]) => `${k}=${v}`).join('\n')}>{all.map(([k, v]) => <span key={k} className="label"><span className="faint">{k}</span> {v}</span>)}</span>
}
