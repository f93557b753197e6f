// Fields of the form. Each shows one path of the job file and writes it back.
import { AutoComplete, Input, InputNumber, Select } from 'antd'
import { useEffect, useState, type ReactNode } from 'react'
import { valueAt, type Path } from '../../lib/jobFile'
import type { JobSpec } from '../../api/types'

export interface Draft { spec: JobSpec; set: (path: Path, value: unknown) => void; off: boolean }
interface Common { draft: Draft; path: string; label: string; hint?: string; wide?: boolean | 'most' }

function Field({ label, wide, children }: { label: string; wide?: boolean | 'most'; children: ReactNode }) {
  return <label className={wide === 'most' ? 'most' : wide ? 'wide' : undefined}>{label}{children}</label>
}

// Text whose file value is not the text itself (a list, a map) keeps what is being typed.
export function TextField({ draft, path, label, hint, wide, rows, parse = (s) => s, show = (v) => (v === undefined || v === null ? '' : String(v)), options }: Common & {
  rows?: number; parse?: (text: string) => unknown; show?: (value: unknown) => string; options?: string[]
}) {
  const value = valueAt(draft.spec, path.split('.'))
  const outside = show(value)
  const [typed, type] = useState(outside)
  useEffect(() => {
    if (show(parse(typed)) !== outside) type(outside)
    // eslint-disable-next-line
  }, [outside])
  const change = (text: string) => {
    type(text)
    draft.set(path.split('.'), parse(text))
  }
  return (
    <Field label={label} wide={wide}>
      {options ? <AutoComplete value={typed} placeholder={hint} disabled={draft.off} options={options.map((v) => ({ value: v }))} onChange={(v) => change(v ?? '')} />
        : rows ? <Input.TextArea value={typed} placeholder={hint} disabled={draft.off} autoSize={{ minRows: rows, maxRows: 8 }} className="mono" onChange={(e) => change(e.target.value)} />
          : <Input value={typed} placeholder={hint} disabled={draft.off} onChange={(e) => change(e.target.value)} />}
    </Field>
  )
}

export function NumberField({ draft, path, label, hint, min = 0, step = 1 }: Common & { min?: number; step?: number }) {
  const value = valueAt(draft.spec, path.split('.'))
  const number = value === undefined || value === '' || Number.isNaN(Number(value)) ? null : Number(value)
  return <Field label={label}><InputNumber value={number} min={min} step={step} placeholder={hint} disabled={draft.off} onChange={(v) => draft.set(path.split('.'), v ?? undefined)} /></Field>
}

export function ChoiceField({ draft, path, label, hint, options }: Common & { options: { value: string | boolean; label: string }[] }) {
  const value = valueAt(draft.spec, path.split('.')) as string | boolean | undefined
  const known = value === undefined || options.some((o) => o.value === value) ? options : [...options, { value, label: String(value) }]
  return (
    <Field label={label}>
      <Select allowClear value={value as string} placeholder={hint} disabled={draft.off} onChange={(v) => draft.set(path.split('.'), v)} options={known as { value: string; label: string }[]} />
    </Field>
  )
}
