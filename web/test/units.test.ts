import { expect, test } from 'vitest'
import { apiBase } from '../src/api/base'
import { tokenInHash } from '../src/api/token'
import { csvText } from '../src/lib/csv'
import { makeFormat, parseGpuMemory, ranges } from '../src/lib/format'
import { clean, LogLines, matching } from '../src/lib/logLines'
import { rates } from '../src/lib/metrics'
import { segments } from '../src/lib/timeline'
import { busesOf, layout } from '../src/lib/topology'

const en = makeFormat('en')
const zh = makeFormat('zh')

test('memory is binary, bandwidth decimal, GPU memory comes in MiB', () => {
  expect(en.bytes(0)).toBe('0 B')
  expect(en.bytes(1536)).toBe('1.5 KiB')
  expect(en.bytes(512 * 1024 ** 3)).toBe('512 GiB')
  expect(en.bytes(1024 ** 4 - 1)).toBe('1 TiB')
  expect(en.mib(16384)).toBe('16 GiB')
  expect(en.mib(46068)).toBe('45 GiB')
  expect(en.rate(6_800_000_000)).toBe('6.8 GB/s')
})

test('big numbers are shortened in the way of the language', () => {
  expect(en.short(9_999)).toBe('9,999')
  expect(en.short(161_588_000)).toBe('161.6M')
  expect(zh.short(161_588_000)).toBe('1.6亿')
  expect(en.milli(0.125)).toBe('0.125')
  expect(en.milli(8)).toBe('8')
})

test('spans of time', () => {
  expect(en.span(0)).toBe('0s')
  expect(en.span(61_000)).toBe('1m01s')
  expect(en.span(3_600_000)).toBe('1h00m')
  expect(zh.span(90_000_000)).toBe('1天01时')
  expect(en.span(-5)).toBe('0s')
})

test('ranges of CPUs', () => {
  expect(ranges([])).toBe('')
  expect(ranges([5, 0, 1, 2, 7])).toBe('0-2,5,7')
})

test('GPU memory of a request is read as the scheduler does', () => {
  for (const text of ['16Gi', '16G', '16GB', '16gib', '16384', '16384Mi']) expect(parseGpuMemory(text), text).toBe(16384)
  expect(parseGpuMemory('1.5Gi')).toBe(1536)
  expect(parseGpuMemory('much')).toBeNull()
})

test('the API is found from the address of the page, under any prefix', () => {
  expect(apiBase('/')).toBe('/api/v1')
  expect(apiBase('/dashboard')).toBe('/api/v1')
  expect(apiBase('/dashboard/')).toBe('/api/v1')
  expect(apiBase('/crater/')).toBe('/crater/api/v1')
  expect(apiBase('/crater')).toBe('/crater/api/v1')
  expect(apiBase('/a/b/index.html')).toBe('/a/b/api/v1')
})

test('a token is found in the address only where it stands as one', () => {
  expect(tokenInHash('#token=a%2Bb')).toBe('a+b')
  expect(tokenInHash('#/jobs?token=x')).toBe('x')
  expect(tokenInHash('#/jobs?mytoken=x')).toBeNull()
  expect(tokenInHash('#/jobs/token')).toBeNull()
})

test('CSV quotes what it must and disarms formulas', () => {
  expect(csvText([['a', 'b'], ['x,"y"', 1], ['=1+1', -2], [undefined, '']])).toBe('\ufeffa,b\r\n"x,""y""",1\r\n\'=1+1,-2\r\n,\r\n')
})

test('log lines arrive in any pieces', () => {
  const log = new LogLines()
  for (const piece of ['one\ntw', 'o\r\n10%\r50', '%\r100%\nlast']) log.push(piece)
  log.end()
  expect(log.lines).toEqual(['one', 'two', '100%', 'last'])
  expect(clean('\x1b[31mred\x1b[0m')).toBe('red')
  expect(matching(log.lines, 'O')).toEqual([0, 1])
  expect(matching(log.lines, '')).toEqual([])
})

test('counters become rates, a restart makes no negative one', () => {
  const at = (s: number, read_bytes: number) => ({ at: new Date(s * 1000).toISOString(), read_bytes })
  expect(rates({ points: [at(0, 0), at(10, 100), at(20, 50), at(30, 150)] }, 'read_bytes')).toEqual([[10_000, 10], [30_000, 10]])
})

test('a timeline fills the bar, short states stay visible, an end adds nothing', () => {
  const step = (s: number, state: string) => ({ at: new Date(s * 1000).toISOString(), state })
  const parts = segments([step(0, 'Pending'), step(1, 'Preparing'), step(1000, 'Running'), step(2000, 'Finished')], 9e9)
  expect(parts.map((p) => p.state)).toEqual(['Pending', 'Preparing', 'Running'])
  expect(parts.reduce((sum, p) => sum + p.width, 0)).toBeCloseTo(100)
  expect(Math.min(...parts.map((p) => p.width))).toBeGreaterThanOrEqual(2.5)
  expect(segments([step(0, 'Pending')], 5000)[0]).toMatchObject({ open: true, to: 5000, width: 100 })
  expect(segments([], 0)).toEqual([])
})

test('a topology: devices in their domain, fully linked cards as one bus', () => {
  const contains = (from: string, to: string) => ({ from, to, kind: 'contains' })
  const link = (from: string, to: string) => ({ from, to, kind: 'nvlink', label: 'NV12' })
  const drawing = layout({
    vertices: [{ id: 'n', kind: 'node' }, { id: 'd0', kind: 'numa', label: 'NUMA 0' }, ...['a', 'b', 'c'].map((id) => ({ id, kind: 'gpu', label: id })), { id: 's', kind: 'disk' }],
    edges: [contains('n', 'd0'), contains('d0', 'a'), contains('d0', 'b'), contains('d0', 'c'), contains('n', 's'), link('a', 'b'), link('b', 'c'), link('a', 'c')],
  })
  expect(drawing.buses).toEqual([{ ids: ['a', 'b', 'c'], label: 'NV12' }])
  expect(drawing.wires).toEqual([])
  const domain = drawing.domains.find((d) => d.id === 'd0')!
  for (const id of ['a', 'b', 'c']) {
    const box = drawing.devices.find((d) => d.id === id)!
    expect(box.y >= domain.y && box.y + box.h <= domain.y + domain.h && box.x + box.w <= domain.x + domain.w).toBe(true)
  }
  expect(drawing.devices.find((d) => d.id === 's')!.y).toBeGreaterThan(domain.y + domain.h)
  // A chain is not fully linked: it stays single links.
  expect(busesOf([link('a', 'b'), link('b', 'c')])).toMatchObject({ buses: [], rest: [{ from: 'a' }, { from: 'b' }] })
})
