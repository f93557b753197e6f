import { Button } from 'antd'
import { useNavigate } from 'react-router-dom'
import type { JobView } from '../../api/types'
import { useText } from '../../i18n'
import { hasMasked, specText, tidySpec } from '../../lib/jobFile'
import { Copy, Panel } from '../../ui/parts'

export function Spec({ view }: { view: JobView }) {
  const { t } = useText()
  const navigate = useNavigate()
  const spec = tidySpec(view.spec ?? {})
  const text = specText(spec)
  return (
    <Panel title={t('submit.yaml')} extra={<><Copy text={text} /><Button onClick={() => navigate('/submit', { state: { spec: view.spec } })}>{t('job.resubmit')}</Button></>}>
      {hasMasked(spec) && <p className="soft" style={{ marginTop: 0 }}>{t('job.specMasked')}</p>}
      <pre className="code">{text}</pre>
    </Panel>
  )
}
