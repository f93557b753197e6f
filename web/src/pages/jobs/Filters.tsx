// Filters of the job list; each is a part of the address.
import { Button, Input, Segmented, Select, Tag } from 'antd'
import { useEffect, useState } from 'react'
import { useQueues, useTenants } from '../../api/queries'
import { useText } from '../../i18n'
import { JOB_STATES } from '../../lib/states'
import type { useUrlState } from '../../lib/urlState'
import { State } from '../../ui/State'
import { FILTERS, SINCE, filtered } from './filters'

export function Filters({ url, me }: { url: ReturnType<typeof useUrlState>; me?: string }) {
  const { t } = useText()
  const queues = useQueues()
  const tenants = useTenants()
  const { get, params } = url
  const set = (key: string, value?: string) => url.set({ [key]: value, cursor: undefined, from: undefined })
  return (
    <div className="row filters">
      {me && (
        <Segmented value={get('user') === me ? 'mine' : 'all'} title={t('jobs.mineHint', { user: me })} onChange={(v) => set('user', v === 'mine' ? me : undefined)}
          options={[{ value: 'all', label: t('jobs.all') }, { value: 'mine', label: t('jobs.mine') }]} />
      )}
      <Select mode="multiple" allowClear style={{ minWidth: 150 }} maxTagCount="responsive" placeholder={t('jobs.filter.state')} aria-label={t('jobs.filter.state')}
        value={get('state') ? get('state').split(',') : []} onChange={(v: string[]) => set('state', v.join(','))}
        options={JOB_STATES.map((value) => ({ value, label: <State state={value} /> }))} />
      <Choice name="queue" value={get('queue')} set={set} options={(queues.data?.items ?? []).map((q) => q.spec.name)} />
      <Choice name="tenant" value={get('tenant')} set={set} options={(tenants.data?.items ?? []).map((x) => x.path ?? '')} />
      <Choice name="type" value={get('type')} set={set} options={['training', 'inference', 'batch', 'interactive']} />
      <Name value={get('name')} set={set} />
      <Select style={{ minWidth: 130 }} value={get('since')} onChange={(v) => set('since', v)} aria-label={t('jobs.filter.since')}
        options={[{ value: '', label: t('jobs.since.any') }, ...Object.keys(SINCE).map((value) => ({ value, label: t(`jobs.since.${value}`) }))]} />
      {get('node') && <Tag closable onClose={() => set('node')}>{t('word.node')}: {get('node')}</Tag>}
      {filtered(params) && <Button type="link" size="small" onClick={() => url.set(Object.fromEntries([...FILTERS, 'cursor', 'from'].map((k) => [k, undefined])))}>{t('jobs.filter.clear')}</Button>}
    </div>
  )
}

function Choice({ name, value, set, options }: { name: 'queue' | 'tenant' | 'type'; value: string; set: (key: string, value?: string) => void; options: string[] }) {
  const { t, has } = useText()
  const all = value && !options.includes(value) ? [value, ...options] : options
  return (
    <Select allowClear showSearch style={{ minWidth: name === 'tenant' ? 140 : 110 }} placeholder={t(`jobs.filter.${name}`)} aria-label={t(`jobs.filter.${name}`)}
      value={value || undefined} onChange={(v?: string) => set(name, v)} options={all.map((v) => ({ value: v, label: name === 'type' && has(`type.${v}`) ? t(`type.${v}`) : v }))} />
  )
}

function Name({ value, set }: { value: string; set: (key: string, value?: string) => void }) {
  const { t } = useText()
  const [typed, type] = useState(value)
  useEffect(() => type(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => set('name', typed.trim()), 350)
    return () => clearTimeout(timer)
    // eslint-disable-next-line
  }, [typed])
  return <Input allowClear style={{ width: 170 }} placeholder={t('jobs.filter.name')} aria-label={t('jobs.filter.name')} value={typed} onChange={(e) => type(e.target.value)} />
}
