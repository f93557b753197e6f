// "Would this fit?" in a few fields; the answer comes from the scheduler.
import { AutoComplete, Input, InputNumber } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router-dom'
import type { JobSpec } from '../../api/types'
import { useText } from '../../i18n'
import { FitAnswer, useFit } from '../../ui/Fit'

interface Asked { cards: number | null; memory: string; cores: number | null; model: string }

export function specOf({ cards, memory, cores, model }: Asked): JobSpec | null {
  if (!cards && !cores) return null
  const gpu = cards ? { count: cards, ...(memory.trim() ? { memory: memory.trim() } : {}), ...(model ? { model } : {}) } : undefined
  return { name: 'would-this-fit', command: ['true'], resources: { ...(gpu ? { gpu } : {}), ...(cores ? { cpu: { cores } } : {}) } }
}

export function FitBox({ models }: { models: string[] }) {
  const { t } = useText()
  const [asked, set] = useState<Asked>({ cards: 1, memory: '', cores: null, model: '' })
  const spec = specOf(asked)
  const fit = useFit(spec)
  const change = (part: Partial<Asked>) => set({ ...asked, ...part })
  const { name: _, command: __, ...kept } = (spec ?? {}) as Record<string, unknown>
  return (
    <div className="stack">
      <div className="fields few">
        <label>{t('overview.fitCards')}<InputNumber min={0} max={4096} step={1} value={asked.cards} onChange={(cards) => change({ cards })} /></label>
        <label>{t('overview.fitMemory')}<Input value={asked.memory} placeholder={t('overview.wholeCard')} onChange={(e) => change({ memory: e.target.value })} /></label>
        <label>{t('overview.fitCores')}<InputNumber min={0} step={1} value={asked.cores} onChange={(cores) => change({ cores })} /></label>
        <label>{t('overview.fitModel')}<AutoComplete value={asked.model} placeholder={t('overview.anyModel')} options={models.map((value) => ({ value }))} onChange={(model) => change({ model: model ?? '' })} allowClear /></label>
      </div>
      <div style={{ minHeight: 62, opacity: fit.late && fit.data ? 0.6 : 1 }}>
        <FitAnswer fit={spec ? fit.data : undefined} error={fit.error} />
      </div>
      <Link to="/submit" state={{ spec: kept }}>{t('overview.fitSubmit')}</Link>
    </div>
  )
}
