// A time series with ECharts on canvas, loaded when the first chart is drawn. Colours follow the theme.
import { Suspense, lazy } from 'react'
import type { SeriesSpec } from './chart/Plot'
import { Bones } from './parts'

const Plot = lazy(() => import('./chart/Plot'))

export function Chart(props: { series: SeriesSpec[]; show: (n: number) => string; limit?: { value: number; name: string }; most?: number; binary?: boolean; unit?: number; label: string }) {
  return <Suspense fallback={<Bones rows={4} />}><Plot {...props} /></Suspense>
}
