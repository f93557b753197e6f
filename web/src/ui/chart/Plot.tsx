import { LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components'
import { init, use, type EChartsType } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'
import { FONT, PALETTE, useScheme } from '../../app/theme'
import { useText } from '../../i18n'

use([LineChart, GridComponent, TooltipComponent, LegendComponent, MarkLineComponent, CanvasRenderer])

export interface SeriesSpec { name: string; points: [number, number][] }

// Tasks of one job: told apart by lightness and by the tooltip, all in the accent's hue first.
const LINES = { light: ['#1d5fbf', '#c4401a', '#00795a', '#8f4a86', '#a86a00', '#2b86c5', '#667080', '#1b2430'], dark: ['#7fb3ff', '#f0764e', '#35b48c', '#cf8fc6', '#e3a63a', '#5fb4ee', '#98a2b1', '#dfe5ec'] }

// Where the axis ends: data and limit inside, steps that read well in the unit (powers of two for memory).
export function axis(series: SeriesSpec[], limit: number, binary?: boolean): { max?: number; interval?: number } {
  const top = Math.max(limit, ...series.flatMap((s) => s.points.map((p) => p[1])))
  if (!binary || top <= 0) return top > 0 && limit > 0 ? { max: top * 1.15 } : {}
  const interval = 2 ** Math.ceil(Math.log2(top / 5))
  return { interval, max: Math.ceil((top * 1.12) / interval) * interval }
}

interface Props { unit?: number; binary?: boolean; series: SeriesSpec[]; show: (n: number) => string; limit?: { value: number; name: string }; most?: number; label: string }

export default function Plot({ series, show, limit, most, unit, binary, label }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<EChartsType>()
  const scheme = useScheme()
  const { f } = useText()
  useEffect(() => {
    const c = init(box.current!, undefined, { renderer: 'canvas' })
    chart.current = c
    const watch = new ResizeObserver(() => c.resize())
    watch.observe(box.current!)
    return () => {
      watch.disconnect()
      c.dispose()
    }
  }, [])
  useEffect(() => {
    const p = PALETTE[scheme]
    const colours = LINES[scheme]
    const text = { color: p.soft, fontFamily: FONT, fontSize: 11 }
    chart.current?.setOption({
      animation: false,
      grid: { left: 8, right: 14, top: series.length > 1 ? 30 : 12, bottom: 4, containLabel: true },
      legend: { show: series.length > 1, top: 0, right: 8, textStyle: text, itemWidth: 12, itemHeight: 2, icon: 'rect' },
      tooltip: {
        trigger: 'axis', backgroundColor: p.raised, borderColor: p.line, textStyle: { color: p.text, fontFamily: FONT, fontSize: 12 }, axisPointer: { lineStyle: { color: p.faint } },
        valueFormatter: (v: unknown) => show(Number(v)),
      },
      xAxis: { type: 'time', axisLabel: { ...text, formatter: (v: number) => f.clock(v), hideOverlap: true }, axisLine: { lineStyle: { color: p.line } }, axisTick: { show: false }, axisPointer: { label: { formatter: ({ value }: { value: number }) => f.exact(value) } } },
      yAxis: { type: 'value', min: 0, minInterval: unit, ...(most ? { max: most, interval: most / 4 } : axis(series, limit?.value ?? 0, binary)), axisLabel: { ...text, showMaxLabel: binary || most ? undefined : false, formatter: (v: number) => show(v) }, splitLine: { lineStyle: { color: p.line } }, splitNumber: 4 },
      series: series.map((s, i) => ({
        name: s.name, type: 'line', data: s.points, showSymbol: false, sampling: 'lttb', lineStyle: { width: 1.5, color: colours[i % colours.length] }, itemStyle: { color: colours[i % colours.length] },
        areaStyle: series.length === 1 ? { color: colours[0], opacity: 0.1 } : undefined,
        markLine: i === 0 && limit ? { silent: true, symbol: 'none', data: [{ yAxis: limit.value }], lineStyle: { color: p.faint, type: 'dashed', width: 1 }, label: { ...text, formatter: limit.name, position: 'insideStartTop' } } : undefined,
      })),
    }, { notMerge: true })
  }, [series, show, limit, most, unit, binary, scheme, f])
  return <div ref={box} role="img" aria-label={label} style={{ height: 190 }} />
}
