// types.ts and the requests of the console, held against the API's own description: OPENAPI, else build/openapi.json; skipped without one.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const file = process.env.OPENAPI ?? fileURLToPath(new URL('../../build/openapi.json', import.meta.url))
type Schema = { $ref?: string; type?: string | string[]; properties?: Record<string, Schema>; items?: Schema; additionalProperties?: Schema | boolean; anyOf?: Schema[]; oneOf?: Schema[] }
type Operation = { parameters?: { name: string; in: string }[]; requestBody?: unknown }
interface Document { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const ROOTS = ['ClusterView', 'JobView', 'JobMetrics', 'NodeView', 'TopologyView', 'QueueView', 'Tenant', 'EventView', 'FitView', 'Why']
// Asked for, and not there yet: the console does without.
const WISHES = new Set(['ClusterView.you'])

const REQUESTS: [string, string, string[]][] = [
  ['get', '/api/v1/cluster', []],
  ['get', '/api/v1/jobs', ['status', 'queue', 'tenant', 'user', 'type', 'node', 'name', 'since', 'sort', 'limit', 'cursor']],
  ['get', '/api/v1/jobs/{id}', []],
  ['get', '/api/v1/jobs/{id}/why', []],
  ['get', '/api/v1/jobs/{id}/events', ['limit', 'cursor']],
  ['get', '/api/v1/jobs/{id}/metrics', []],
  ['get', '/api/v1/jobs/{id}/logs', ['task', 'attempt', 'tail', 'follow']],
  ['post', '/api/v1/jobs', []],
  ['post', '/api/v1/jobs/{id}/cancel', []],
  ['post', '/api/v1/jobs/{id}/evict', []],
  ['post', '/api/v1/jobs/{id}/resume', []],
  ['post', '/api/v1/plans/submit', []],
  ['get', '/api/v1/nodes', ['state', 'label', 'limit', 'cursor']],
  ['get', '/api/v1/nodes/{name}', []],
  ['get', '/api/v1/nodes/{name}/topology', []],
  ['post', '/api/v1/nodes/{name}/drain', []],
  ['post', '/api/v1/nodes/{name}/resume', []],
  ['get', '/api/v1/queues', ['limit']],
  ['get', '/api/v1/tenants', ['limit']],
  ['get', '/api/v1/events', []],
]

function differences(document: Document): string[] {
  const source = fileURLToPath(new URL('../src/api/types.ts', import.meta.url))
  const program = ts.createProgram([source], { strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2020 })
  const checker = program.getTypeChecker()
  const exported = new Map(checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(source)!)!).map((s) => [s.name, checker.getDeclaredTypeOfSymbol(s)]))
  const wrong: string[] = []
  const follow = (schema: Schema): Schema => (schema.$ref ? follow(document.components.schemas[schema.$ref.split('/').pop()!]) : schema)

  const walk = (type: ts.Type, given: Schema, path: string): void => {
    const schema = follow(given)
    if (WISHES.has(path)) return
    const kinds = [schema.type ?? 'object'].flat()
    const plain = checker.getNonNullableType(type)
    if (plain.flags & ts.TypeFlags.Unknown) return
    if (plain.isUnion() && plain.types.every((t) => t.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike))) return
    const is = (flag: ts.TypeFlags) => Boolean(plain.flags & flag)
    if (is(ts.TypeFlags.StringLike)) { if (!kinds.includes('string')) wrong.push(`${path}: string, the API says ${kinds}`) }
    else if (is(ts.TypeFlags.NumberLike)) { if (!kinds.includes('number') && !kinds.includes('integer')) wrong.push(`${path}: number, the API says ${kinds}`) }
    else if (is(ts.TypeFlags.BooleanLike)) { if (!kinds.includes('boolean')) wrong.push(`${path}: boolean, the API says ${kinds}`) }
    else if (checker.isArrayType(plain)) {
      if (!schema.items) wrong.push(`${path}: a list, the API says ${kinds}`)
      else walk(checker.getTypeArguments(plain as ts.TypeReference)[0], schema.items, `${path}[]`)
    } else {
      const index = checker.getIndexTypeOfType(plain, ts.IndexKind.String)
      if (index) { if (!(index.flags & ts.TypeFlags.Unknown) && typeof schema.additionalProperties !== 'object') wrong.push(`${path}: a map, the API says ${kinds}`) }
      for (const property of plain.getProperties()) {
        const here = `${path}.${property.name}`
        const there = schema.properties?.[property.name]
        if (there) walk(checker.getTypeOfSymbol(property), there, here)
        else if (!WISHES.has(here)) wrong.push(`${here}: the API has no such field`)
      }
    }
  }
  for (const root of ROOTS) {
    const schema = document.components.schemas[root]
    if (!schema) wrong.push(`${root}: the API has no such schema`)
    else walk(exported.get(root)!, schema, root)
  }
  return wrong
}

describe.skipIf(!existsSync(file))('the API as described', () => {
  const document = JSON.parse(existsSync(file) ? readFileSync(file, 'utf8') : '{}') as Document

  test('has every field that types.ts reads, of the same kind', () => {
    expect(differences(document)).toEqual([])
  }, 60_000)

  test('knows every key that the form writes', () => {
    const form = readFileSync(new URL('../src/pages/submit/Form.tsx', import.meta.url), 'utf8')
    const paths = [...form.matchAll(/path="([\w.]+)"/g)].map((m) => m[1])
    expect(paths.length).toBeGreaterThan(15)
    for (const path of paths) {
      let at: Schema | undefined = document.components.schemas.JobSpec
      for (const key of path.split('.')) at = at?.properties?.[key]
      expect(at, path).toBeDefined()
    }
  })

  test('takes every request that the console makes', () => {
    for (const [method, path, parameters] of REQUESTS) {
      const operation = document.paths[path]?.[method]
      expect(operation, `${method} ${path}`).toBeDefined()
      const known = (operation.parameters ?? []).map((p) => p.name)
      for (const parameter of parameters) expect(known, `${method} ${path}`).toContain(parameter)
    }
  })
})
