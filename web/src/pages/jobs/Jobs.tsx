// The job list: the server filters, sorts and pages; the address holds it all.
import { LeftOutlined, PlusOutlined, RightOutlined, VerticalRightOutlined } from '@ant-design/icons'
import { Button, Select, Table } from 'antd'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'react-router-dom'
import { useMe } from '../../api/me'
import { useJobs } from '../../api/queries'
import type { JobRow } from '../../api/types'
import { useText } from '../../i18n'
import { ended } from '../../lib/states'
import { useUrlState } from '../../lib/urlState'
import { useHeight } from '../../lib/useHeight'
import { useTitle } from '../../lib/useTitle'
import { Bones, Empty, Failure } from '../../ui/parts'
import { rowKeys } from '../../ui/rowKeys'
import { CancelSelected } from './CancelSelected'
import { jobColumns, tableColumn } from './columns'
import { Filters } from './Filters'
import { apiQuery, filtered } from './filters'
import { ColumnChoice, Csv } from './Tools'

const SIZES = [50, 100, 200, 500]

// The API only knows the next page; where one came from is kept here, and a pasted link goes back to the first.
const before = new Map<string, string | undefined>()

export default function Jobs() {
  const text = useText()
  const { t, f } = text
  const url = useUrlState()
  const { params, get } = url
  const me = useMe().name
  const limit = SIZES.includes(Number(get('limit'))) ? Number(get('limit')) : 100
  const cursor = get('cursor') || undefined
  const from = Number(get('from') || 0)
  const { data, error, refetch, isPlaceholderData } = useJobs({ ...apiQuery(params), limit, cursor })
  useTitle(t('jobs.title'))
  const [chosen, choose] = useState<string[]>([])
  useEffect(() => choose([]), [cursor, limit])
  const { ref, height } = useHeight<HTMLDivElement>(76)

  const all = useMemo(() => jobColumns(text), [text.language]) // eslint-disable-line
  const shown = new Set(get('cols') ? ['name', ...get('cols').split(',')] : all.filter((c) => !c.optional).map((c) => c.key))
  const columns = all.filter((c) => shown.has(c.key))
  const sort = get('sort') || '-submitted'
  const rows = data?.items ?? []
  const total = data?.total ?? rows.length

  return (
    <>
      <div className="head">
        <h1>{t('jobs.title')}</h1>
        <span className="faint">{data && t('jobs.total', { count: total })}</span>
        <span className="space" />
        {chosen.length > 0 && <><span className="soft">{t('jobs.selected', { count: chosen.length })}</span><CancelSelected ids={chosen} done={() => choose([])} /></>}
        <ColumnChoice columns={all} shown={shown} choose={(keys) => url.set({ cols: keys.join(',') }, { replace: true })} />
        <Csv columns={all} params={params} />
        <Link to="/submit"><Button type="primary" icon={<PlusOutlined />}>{t('nav.submit')}</Button></Link>
      </div>
      <Filters url={url} me={me} />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <div className="panel"><div className="body"><Bones rows={14} /></div></div>}
      {data && rows.length === 0 && (
        <div className="panel">{filtered(params) ? <Empty text={t('jobs.emptyFiltered')} /> : <Empty text={t('jobs.empty')} command="crater job submit --file job.yaml" />}</div>
      )}
      {data && rows.length > 0 && (
        <div className="panel table" ref={ref} onKeyDown={rowKeys} style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
          <Table<JobRow> size="small" rowKey="id" dataSource={rows} pagination={false} virtual scroll={{ x: columns.reduce((w, c) => w + c.width, 42), y: height }}
            columns={columns.map((c) => tableColumn(c, sort))} onRow={() => ({ tabIndex: 0 })}
            rowSelection={{ columnWidth: 42, selectedRowKeys: chosen, onChange: (keys) => choose(keys as string[]), getCheckboxProps: (j) => ({ disabled: ended(j.state) }) }}
            onChange={(_, __, sorter) => {
              const s = Array.isArray(sorter) ? sorter[0] : sorter
              const key = all.find((c) => c.key === s.columnKey)?.sort
              url.set({ sort: key ? `${s.order === 'descend' ? '-' : ''}${key}` : undefined, cursor: undefined, from: undefined })
            }} />
          <div className="row pager">
            <span className="faint">{t('jobs.page', { from: f.whole(from + 1), to: f.whole(from + rows.length), total: f.whole(total) })}</span>
            <span className="space" />
            <Select value={limit} onChange={(n) => url.set({ limit: n === 100 ? undefined : String(n), cursor: undefined, from: undefined })} options={SIZES.map((n) => ({ value: n, label: t('jobs.perPage', { n }) }))} />
            <Button icon={<VerticalRightOutlined />} disabled={!cursor} title={t('jobs.first')} aria-label={t('jobs.first')} onClick={() => url.set({ cursor: undefined, from: undefined })} />
            <Button icon={<LeftOutlined />} disabled={!cursor} title={t('jobs.prev')} aria-label={t('jobs.prev')} onClick={() => url.set({ cursor: before.get(cursor ?? ''), from: before.get(cursor ?? '') ? String(Math.max(0, from - limit)) : undefined })} />
            <Button icon={<RightOutlined />} disabled={!data.next} title={t('jobs.next')} aria-label={t('jobs.next')} onClick={() => { before.set(data.next!, cursor); url.set({ cursor: data.next, from: String(from + rows.length) }) }} />
          </div>
        </div>
      )}
    </>
  )
}
