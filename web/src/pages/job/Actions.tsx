// Cancel, evict, resume, submit again. What changes something asks first and takes a reason.
import { App, Button, Input, Modal } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { post, seg } from '../../api/client'
import { useMe } from '../../api/me'
import { client } from '../../api/queries'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { ended, lower } from '../../lib/states'
import { Failure } from '../../ui/parts'

type Verb = 'cancel' | 'evict' | 'resume'

export function Actions({ view }: { view: JobView }) {
  const { t } = useText()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const { role } = useMe()
  const [verb, ask] = useState<Verb | null>(null)
  const [reason, say] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, fail] = useState<unknown>(null)
  const { job } = view
  const state = lower(job.state)
  const open = (v: Verb) => { fail(null); say(''); ask(v) }
  const go = async () => {
    setBusy(true)
    try {
      await post(`/jobs/${seg(job.id)}/${verb}`, reason ? { reason } : {})
      ask(null)
      void message.success(t('job.done'))
      void client.invalidateQueries({ queryKey: ['job', job.id] })
    } catch (e) {
      fail(e)
    } finally {
      setBusy(false)
    }
  }
  const reader = role === 'read-only'
  return (
    <>
      {!ended(state) && !reader && <Button danger onClick={() => open('cancel')}>{t('job.cancel')}</Button>}
      {!ended(state) && state !== 'pending' && !reader && role !== 'tenant' && <Button onClick={() => open('evict')}>{t('job.evict')}</Button>}
      {['evicted', 'failed', 'cancelled'].includes(state) && !reader && <Button onClick={() => open('resume')}>{t('job.resume')}</Button>}
      <Button onClick={() => navigate('/submit', { state: { spec: view.spec } })}>{t('job.resubmit')}</Button>
      <Modal open={verb !== null} title={verb && t(`job.${verb}Title`, { name: job.name || job.id })} onCancel={() => ask(null)} onOk={() => void go()}
        okText={verb && t(`job.${verb}`)} cancelText={t('word.back')} okButtonProps={{ danger: verb !== 'resume' }} confirmLoading={busy} destroyOnClose>
        <p>{verb && t(`job.${verb}Text`)}</p>
        <label>{t('job.reasonLabel')}<Input autoFocus value={reason} onChange={(e) => say(e.target.value)} onPressEnter={() => void go()} /></label>
        {error !== null && <div style={{ marginTop: 10 }}><Failure error={error} /></div>}
      </Modal>
    </>
  )
}
