// Cancels the chosen jobs, four at a time, and says which could not be.
import { App, Button, Input, Modal } from 'antd'
import { useState } from 'react'
import { post, seg } from '../../api/client'
import { client } from '../../api/queries'
import { useText } from '../../i18n'

export function CancelSelected({ ids, done }: { ids: string[]; done: () => void }) {
  const { t } = useText()
  const { message } = App.useApp()
  const [asking, ask] = useState(false)
  const [reason, say] = useState('')
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    const left = [...ids]
    const failures: string[] = []
    const work = async () => {
      for (let id = left.shift(); id; id = left.shift())
        await post(`/jobs/${seg(id)}/cancel`, reason ? { reason } : {}).catch((e: Error) => failures.push(e.message))
    }
    await Promise.all([work(), work(), work(), work()])
    setBusy(false)
    ask(false)
    const ok = ids.length - failures.length
    if (ok > 0) void message.success(t('jobs.cancelled', { count: ok }))
    if (failures.length > 0) void message.error(t('jobs.cancelFailed', { count: failures.length, message: failures[0] }))
    void client.invalidateQueries({ queryKey: ['jobs'] })
    done()
  }
  return (
    <>
      <Button danger onClick={() => ask(true)}>{t('jobs.cancelSelected')}</Button>
      <Modal open={asking} title={t('jobs.cancelTitle', { count: ids.length })} onCancel={() => ask(false)} onOk={() => void go()} okText={t('jobs.cancelGo')}
        cancelText={t('word.back')} okButtonProps={{ danger: true }} confirmLoading={busy} destroyOnClose>
        <p>{t('jobs.cancelText')}</p>
        <label>{t('job.reasonLabel')}<Input value={reason} onChange={(e) => say(e.target.value)} /></label>
      </Modal>
    </>
  )
}
