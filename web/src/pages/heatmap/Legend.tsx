import { rampColours, useScheme } from '../../app/theme'
import { useText } from '../../i18n'
import type { Mode } from './draw'

export function Legend({ mode, size }: { mode: Mode; size: number }) {
  const { t, f } = useText()
  const scheme = useScheme()
  const ends = mode === 'temperature' ? [t('heat.celsius', { n: 30 }), t('heat.celsius', { n: 90 })] : [f.percent(0), f.percent(1)]
  return (
    <div className="row small soft legend">
      <span className="state">{t(`heat.${mode}`)} {ends[0]}<span className="ramp">{rampColours(scheme).map((c) => <i key={c} style={{ background: c }} />)}</span>{ends[1]}</span>
      <span className="state"><i className="swatch free" />{t('heat.legendFree')}</span>
      {size >= 22 && <span className="state"><i className="swatch used" />{t('heat.legendUsed')}</span>}
      <span className="state"><i className="swatch hatched" />{t('heat.legendHatch')}</span>
    </div>
  )
}
