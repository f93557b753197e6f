// Nodes by cards: where the load is, who holds what, what is out of order.
import { MinusOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Input, Segmented, Select } from 'antd'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { Link } from 'react-router-dom'
import { useAllNodes } from '../../api/queries'
import { useText } from '../../i18n'
import { useHeight } from '../../lib/useHeight'
import { useUrlState } from '../../lib/urlState'
import { useTitle } from '../../lib/useTitle'
import { Bones, Failure } from '../../ui/parts'
import { MODES, type Mode } from './draw'
import { Field } from './Field'
import { autoSize, groupsOf, place, SIZES } from './layout'
import { Legend } from './Legend'

function useWidth() {
  const [element, ref] = useState<HTMLDivElement | null>(null)
  const [width, set] = useState(0)
  useEffect(() => {
    if (!element) return
    const watch = new ResizeObserver(([entry]) => set(Math.floor(entry.contentRect.width)))
    watch.observe(element)
    return () => watch.disconnect()
  }, [element])
  return { ref, width }
}

export default function HeatMap() {
  const { t, f } = useText()
  const { get, set } = useUrlState()
  const { data, error, refetch } = useAllNodes()
  useTitle(t('heat.title'))
  const { ref: frame, height } = useHeight<HTMLDivElement>(46)
  const { ref: inner, width } = useWidth()
  const mode = MODES.find((m) => m === get('colour')) ?? 'use'
  const nodes = useMemo(() => (data ?? []).filter((n) => n.cards?.length), [data])
  const keys = useMemo(() => [...new Set(nodes.flatMap((n) => Object.keys(n.labels ?? {})))].sort(), [nodes])
  const by = get('group') || (keys.includes('zone') ? 'zone' : 'model')
  const grouped = useMemo(() => groupsOf(nodes, by === 'none' ? '' : by), [nodes, by])
  const asked = SIZES.find((s) => String(s) === get('size'))
  const layout = useMemo(() => (width > 0 ? place(grouped, asked ?? autoSize(grouped, width, height), width) : null), [grouped, asked, width, height])
  const size = layout?.size ?? SIZES[3]
  const zoom = useCallback((by: number) => {
    const next = SIZES[Math.max(0, Math.min(SIZES.length - 1, SIZES.indexOf(size) + by * (size < 10 ? 2 : 1)))]
    set({ size: String(next) }, { replace: true })
  }, [size, set])
  const without = (data?.length ?? 0) - nodes.length

  return (
    <>
      <div className="head">
        <h1>{t('heat.title')}</h1>
        {layout && <span className="faint">{t('heat.summary', { cards: f.whole(layout.cards), nodes: f.whole(nodes.length) })}</span>}
        {without > 0 && <Link className="faint small" to="/nodes">{t('heat.without', { count: without })}</Link>}
        <span className="space" />
        <Segmented value={mode} onChange={(v) => set({ colour: v === 'use' ? undefined : String(v) }, { replace: true })} options={MODES.map((value: Mode) => ({ value, label: t(`heat.${value}`) }))} />
        <Select value={by} style={{ minWidth: 120 }} aria-label={t('heat.group')} title={t('heat.group')} onChange={(v) => set({ group: v }, { replace: true })}
          options={[{ value: 'none', label: t('heat.groupNone') }, { value: 'model', label: t('heat.groupModel') }, { value: 'state', label: t('heat.groupState') }, ...keys.map((k) => ({ value: k, label: k }))]} />
        <Input allowClear style={{ width: 140 }} placeholder={t('heat.find')} aria-label={t('heat.find')} value={get('find')} onChange={(e) => set({ find: e.target.value }, { replace: true })} />
        <span className="nowrap">
          <Button icon={<MinusOutlined />} title={t('heat.zoomOut')} aria-label={t('heat.zoomOut')} disabled={size === SIZES[0]} onClick={() => zoom(-1)} />
          <Button type={asked ? 'default' : 'dashed'} onClick={() => set({ size: undefined }, { replace: true })}>{t('heat.auto')}</Button>
          <Button icon={<PlusOutlined />} title={t('heat.zoomIn')} aria-label={t('heat.zoomIn')} disabled={size === SIZES[SIZES.length - 1]} onClick={() => zoom(1)} />
        </span>
      </div>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <div className="panel"><div className="body"><Bones rows={14} /></div></div>}
      {data && nodes.length === 0 && <div className="panel"><div className="empty">{t('heat.empty')} <Link to="/nodes">{t('nav.nodes')}</Link></div></div>}
      {nodes.length > 0 && (
        <div className="panel" ref={frame}>
          <div style={{ padding: '4px 0 0 14px' }}><div ref={inner}>{layout && <Field layout={layout} mode={mode} find={get('find')} height={height} zoom={zoom} />}</div></div>
          <Legend mode={mode} size={size} />
        </div>
      )}
    </>
  )
}
