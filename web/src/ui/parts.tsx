// Small pieces that every page uses.
import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { Button, Skeleton } from 'antd'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { ApiError } from '../api/client'
import { useText } from '../i18n'

export function Panel({ title, extra, flush, children }: { title?: ReactNode; extra?: ReactNode; flush?: boolean; children: ReactNode }) {
  return (
    <section className="panel">
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          <span style={{ flex: 1 }} />
          {extra}
        </header>
      )}
      <div className={flush ? 'flush scroll-x' : 'body'}>{children}</div>
    </section>
  )
}

// The clipboard API needs https or localhost; elsewhere the old way.
async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

export function Copy({ text, label }: { text: string; label?: string }) {
  const { t } = useText()
  const [done, setDone] = useState(false)
  const copy = async () => {
    await toClipboard(text).catch(() => undefined)
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  const name = done ? t('word.copied') : (label ?? t('word.copy'))
  return <Button type="text" size="small" icon={done ? <CheckOutlined /> : <CopyOutlined />} title={name} aria-label={name} onClick={() => void copy()} />
}

export function Command({ text }: { text: string }) {
  return (
    <span className="command">
      <code>{text}</code>
      <Copy text={text} />
    </span>
  )
}

export function Empty({ text, command, children }: { text: string; command?: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <div>{text}</div>
      {command && <Command text={command} />}
      {children}
    </div>
  )
}

// The API's message, field and hint, as they are.
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useText()
  const e = error instanceof ApiError ? error : null
  const unreachable = e?.code === 'unreachable'
  return (
    <div className="problem-box" role="alert">
      <strong>{unreachable ? t('error.unreachable') : e?.status === 403 ? t('error.forbidden') : (e?.message ?? String(error))}</strong>
      {e?.field && <p>{t('error.field', { field: e.field })}</p>}
      {(unreachable || e?.hint) && <p className="soft">{unreachable ? t('error.unreachableHint') : e?.hint}</p>}
      {retry && <Button size="small" style={{ marginTop: 8 }} onClick={retry}>{t('word.retry')}</Button>}
    </div>
  )
}

export const Bones = ({ rows = 6 }: { rows?: number }) => <Skeleton active title={false} paragraph={{ rows, width: '100%' }} />

export const JobLink = ({ id, children }: { id?: string; children?: ReactNode }) =>
  id ? <Link to={`/jobs/${encodeURIComponent(id)}`}>{children ?? id}</Link> : <span className="faint">–</span>
export const NodeLink = ({ name, children }: { name?: string; children?: ReactNode }) =>
  name ? <Link to={`/nodes/${encodeURIComponent(name)}`}>{children ?? name}</Link> : <span className="faint">–</span>

export function NodeLinks({ names = [], most = 2 }: { names?: string[]; most?: number }) {
  const { t } = useText()
  if (names.length === 0) return <span className="faint">–</span>
  return (
    <span className="nowrap" title={names.length > most ? names.join(', ') : undefined}>
      {names.slice(0, most).map((name, i) => <span key={name}>{i > 0 && ', '}<NodeLink name={name} /></span>)}
      {names.length > most && <span className="faint"> {t('jobs.more', { n: names.length - most })}</span>}
    </span>
  )
}
