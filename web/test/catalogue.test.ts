import { expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { en } from '../src/i18n/en'
import { zh } from '../src/i18n/zh'
import { reasonsEn, reasonsZh } from '../src/i18n/reasons'

type Tree = { [key: string]: string | Tree }
function leaves(tree: Tree, path = ''): Map<string, string> {
  const out = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    const here = path ? `${path}.${key}` : key
    if (typeof value === 'string') out.set(here, value)
    else for (const [k, v] of leaves(value, here)) out.set(k, v)
  }
  return out
}
const english = leaves(en as unknown as Tree)
const chinese = leaves(zh as unknown as Tree)
const places = (text: string) => [...text.matchAll(/{{(\w+)/g)].map((m) => m[1]).sort().join()

test('both languages have the same keys', () => {
  const wanted = [...english.keys()].filter((key) => !key.endsWith('_one')).sort()
  expect([...chinese.keys()].sort()).toEqual(wanted)
})

test('every plural has one and other in English', () => {
  for (const key of english.keys())
    if (key.endsWith('_one')) expect(english.has(key.replace(/_one$/, '_other')), key).toBe(true)
})

test('both languages fill the same places', () => {
  for (const [key, text] of chinese) expect(places(text), key).toBe(places(english.get(key)!))
})

test('reasons are those of the scheduler, word by word', () => {
  const source = readFileSync(new URL('../../lib/model/reason.cc', import.meta.url), 'utf8')
  const rows = [...source.matchAll(/\{Reason::\w+,\s*"(\w+)",\s*"([^"]*)",\s*"([^"]*)"\}/g)].filter((m) => m[1] !== 'none')
  expect(rows.length).toBeGreaterThan(30)
  expect(reasonsEn).toEqual(Object.fromEntries(rows.map((m) => [m[1], m[2]])))
  expect(reasonsZh).toEqual(Object.fromEntries(rows.map((m) => [m[1], m[3]])))
})
