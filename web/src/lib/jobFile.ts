// The job file as a tree and as YAML. The form writes single paths into the YAML document, so comments, order and keys that the form
// does not know stay as they are.
import { Document, isMap, isScalar, isSeq, parseDocument, visit, YAMLParseError } from 'yaml'
import type { JobSpec } from '../api/types'

export interface ParsedJob { doc: Document.Parsed | Document; spec: JobSpec; problem?: { line: number; message: string } }

export function parseJob(text: string): ParsedJob {
  const doc = parseDocument(text, { prettyErrors: true })
  const error = doc.errors[0] as YAMLParseError | undefined
  if (error) return { doc, spec: {}, problem: { line: error.linePos?.[0]?.line ?? 1, message: error.message.split('\n')[0].replace(/ at line \d+, column \d+:?$/, '') } }
  if (doc.contents !== null && !isMap(doc.contents)) return { doc, spec: {}, problem: { line: 1, message: '' } }
  return { doc, spec: (doc.toJS() ?? {}) as JobSpec }
}

export type Path = string[]

export function valueAt(spec: JobSpec, path: Path): unknown {
  let at: unknown = spec
  for (const key of path) at = at !== null && typeof at === 'object' ? (at as Record<string, unknown>)[key] : undefined
  return at
}

// The text with `value` at `path`; undefined or "" takes the key out, and the maps that become empty with it.
export function withValue(text: string, path: Path, value: unknown): string {
  const { doc, problem } = parseJob(text)
  if (problem) return text
  if (value === undefined || value === '' || value === null) {
    doc.deleteIn(path)
    for (let n = path.length - 1; n > 0; n--) {
      const parent = doc.getIn(path.slice(0, n))
      if (isMap(parent) && parent.items.length === 0) doc.deleteIn(path.slice(0, n))
    }
  } else {
    if (doc.contents === null) doc.contents = doc.createNode({}) as never
    for (let n = 1; n < path.length; n++)
      if (!isMap(doc.getIn(path.slice(0, n)))) doc.setIn(path.slice(0, n), doc.createNode({}))
    doc.setIn(path, doc.createNode(value))
  }
  if (isMap(doc.contents) && doc.contents.items.length === 0) return ''
  return doc.toString({ lineWidth: 0, flowCollectionPadding: true })
}

// A spec as the API shows it, without what says nothing: empty, zero and default values.
const DEFAULTS: Record<string, unknown> = { tasks: 1, numa_binding_policy: 'best_effort', grace_period: '30s', interconnect: 'any', use_io_uring: true, io_profile: 'none' }
export function tidySpec(spec: JobSpec): JobSpec {
  const keep = (key: string, value: unknown): boolean => {
    if (value === undefined || value === null || value === '' || value === 0 || value === '0' || value === '0s' || value === '0B/s') return false
    if (value === false && key !== 'preemptible') return false
    if (DEFAULTS[key] === value) return false
    return !(typeof value === 'object' && Object.keys(value as object).length === 0)
  }
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (value === null || typeof value !== 'object') return value
    const out: Record<string, unknown> = {}
    for (const [key, v] of Object.entries(value)) {
      const walked = key === 'env' || key === 'labels' ? v : walk(v)
      if (keep(key, walked)) out[key] = walked
    }
    return out
  }
  const out = walk(spec) as Record<string, unknown>
  const restart = out.restart as { policy?: string } | undefined
  if (restart && (restart.policy ?? 'never') === 'never') delete out.restart
  const command = out.command
  if (Array.isArray(command) && command.length === 3 && command[0] === '/bin/sh' && command[1] === '-c') out.command = command[2]
  return out
}

// A tree as people write it: short lists and maps of plain values on one line.
export function specText(spec: JobSpec): string {
  const doc = new Document(spec)
  visit(doc, {
    Seq: (_, node) => { if (node.items.every(isScalar)) node.flow = true },
    Map: (_, node) => {
      if (node !== doc.contents && node.items.length <= 6 && node.items.every((i) => isScalar(i.value) || (isSeq(i.value) && i.value.items.every(isScalar)))) node.flow = true
    },
  })
  return doc.toString({ lineWidth: 0, flowCollectionPadding: true })
}

export const hasMasked = (spec: JobSpec): boolean => Object.values((spec.env ?? {}) as Record<string, string>).includes('***')
