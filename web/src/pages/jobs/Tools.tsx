// Column choice and CSV of what the filters select.
import { DownloadOutlined, SettingOutlined } from '@ant-design/icons'
import { App, Button, Checkbox, Popover } from 'antd'
import { useState } from 'react'
import { get } from '../../api/client'
import type { JobRow, Page } from '../../api/types'
import { useText } from '../../i18n'
import { csvText, save } from '../../lib/csv'
import type { Column } from './columns'
import { apiQuery } from './filters'

const CSV_ROWS = 100_000

export function ColumnChoice({ columns, shown, choose }: { columns: Column[]; shown: Set<string>; choose: (keys: string[]) => void }) {
  const { t } = useText()
  const content = (
    <div className="stack" style={{ gap: 4 }}>
      {columns.map((c) => (
        <Checkbox key={c.key} checked={shown.has(c.key)} disabled={c.key === 'name'}
          onChange={(e) => choose(columns.map((x) => x.key).filter((k) => (k === c.key ? e.target.checked : shown.has(k))))}>{c.title}</Checkbox>
      ))}
    </div>
  )
  return <Popover trigger="click" placement="bottomRight" content={content}><Button icon={<SettingOutlined />}>{t('jobs.columns')}</Button></Popover>
}

export function Csv({ columns, params }: { columns: Column[]; params: URLSearchParams }) {
  const { t, f } = useText()
  const { message } = App.useApp()
  const [busy, setBusy] = useState(false)
  const write = async () => {
    setBusy(true)
    try {
      const rows: JobRow[] = []
      let cursor: string | undefined
      do {
        const page: Page<JobRow> = await get<Page<JobRow>>('/jobs', { ...apiQuery(params), limit: 500, cursor })
        rows.push(...page.items)
        cursor = page.next
      } while (cursor && rows.length < CSV_ROWS)
      const all = [...columns.filter((c) => c.key === 'id'), ...columns.filter((c) => c.key !== 'id')]
      save('jobs.csv', csvText([all.map((c) => c.key), ...rows.map((r) => all.map((c) => c.csv(r)))]), 'text/csv;charset=utf-8')
      void message.success(cursor ? t('jobs.csvLimit', { n: f.whole(rows.length) }) : t('jobs.csvDone', { count: rows.length }))
    } catch (e) {
      void message.error((e as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return <Button icon={<DownloadOutlined />} loading={busy} onClick={() => void write()}>{t('jobs.csv')}</Button>
}
