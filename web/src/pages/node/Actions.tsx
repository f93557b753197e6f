// Drain and resume, with what it would touch said before.
import { App, Button, Checkbox, Input, Modal } from 'antd'
import { useState } from 'react'
import { post, seg } from '../../api/client'
import { useMe } from '../../api/me'
import { client } from '../../api/queries'
import type { NodeView } from '../../api/types'
import { useText } from '../../i18n'
import { Failure } from '../../ui/parts'
import { Held } from './Held'

export function Actions({ view }: { view: NodeView }) {
  const { t } = useText()
  const { message } = App.useApp()
  const { role } = useMe()
  const [asking, ask] = useState(false)
  const [reason, say] = useState('')
  const [evict, setEvict] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, fail] = useState<unknown>(null)
  const { name, state } = view.node
  const drain = state === 'up'
  const held = view.held ?? []
  if (role === 'read-only' || role === 'tenant') return null
  const go = async () => {
    setBusy(true)
    fail(null)
    try {
      await post(`/nodes/${seg(name)}/${drain ? 'drain' : 'resume'}`, { ...(reason ? { reason } : {}), ...(drain && evict ? { evict } : {}) })
      ask(false)
      void message.success(t('job.done'))
      void client.invalidateQueries({ queryKey: ['node', name] })
    } catch (e) {
      fail(e)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {state !== 'lost' && <Button danger={drain} onClick={() => { fail(null); say(''); setEvict(false); ask(true) }}>{t(drain ? 'node.drain' : 'node.resume')}</Button>}
      <Modal open={asking} width={640} title={t(drain ? 'node.drainTitle' : 'node.resumeTitle', { name })} onCancel={() => ask(false)} onOk={() => void go()} okText={t(drain ? 'node.drainGo' : 'node.resumeGo')}
        cancelText={t('word.back')} okButtonProps={{ danger: drain }} confirmLoading={busy} destroyOnClose>
        <p>{drain ? (held.length > 0 ? t('node.drainText', { count: held.length }) : t('node.drainNone')) : t('node.resumeText')}</p>
        {drain && held.length > 0 && <>
          <div className="panel" style={{ maxHeight: 220, overflow: 'auto', marginBottom: 10 }}><Held held={held} /></div>
          <Checkbox checked={evict} onChange={(e) => setEvict(e.target.checked)}>{t('node.drainEvict')}</Checkbox>
        </>}
        <label style={{ display: 'block', marginTop: 10 }}>{t('job.reasonLabel')}<Input value={reason} onChange={(e) => say(e.target.value)} /></label>
        {error !== null && <div style={{ marginTop: 10 }}><Failure error={error} /></div>}
      </Modal>
    </>
  )
}
