import { expect, test } from 'vitest'
import { cliOf, commandText, commandValue, envText, envValue } from '../src/lib/cli'
import { hasMasked, parseJob, specText, tidySpec, withValue } from '../src/lib/jobFile'

const FILE = `# mine
name: resnet50
resources:   # per task
  gpu: { count: 1, memory: 16Gi }
  cpu: { cores: 8 }
labels: { team: vision }   # the form does not know these
command: [python3, train.py]
`

test('the form changes one value and leaves comments, order and unknown keys alone', () => {
  const changed = withValue(FILE, ['resources', 'gpu', 'count'], 4)
  const words = (text: string) => text.split(/\s+/).join(' ').replaceAll('[ ', '[').replaceAll(' ]', ']').trim()
  expect(words(changed)).toBe(words(FILE.replace('count: 1', 'count: 4')))
})

test('a value given and taken away again leaves no empty maps', () => {
  const added = withValue(FILE, ['resources', 'disk', 'size'], '100Gi')
  expect(parseJob(added).spec).toMatchObject({ resources: { disk: { size: '100Gi' }, cpu: { cores: 8 } } })
  expect(parseJob(withValue(added, ['resources', 'disk', 'size'], '')).spec).toEqual(parseJob(FILE).spec)
  expect(withValue('name: x\n', ['name'], '')).toBe('')
  expect(withValue('', ['resources', 'cpu', 'cores'], 2)).toBe('resources:\n  cpu:\n    cores: 2\n')
})

test('broken YAML names its line and the form does not touch it', () => {
  const broken = 'name: x\nresources: { gpu: [\n'
  expect(parseJob(broken).problem?.line).toBeGreaterThanOrEqual(2)
  expect(withValue(broken, ['name'], 'y')).toBe(broken)
  expect(parseJob('- a\n- b\n').problem).toBeDefined()
  expect(parseJob('').problem).toBeUndefined()
})

test('a spec as the API shows it loses what says nothing', () => {
  const spec = tidySpec({
    name: 'a', tasks: 1, preemptible: false, output: '', labels: {}, after_ok: [], time_limit: '0s', grace_period: '30s', env: { X: '0', HF_TOKEN: '***' },
    resources: { gpu: { count: 0, exclusive: false, interconnect: 'any' }, cpu: { cores: 2 }, disk: { use_io_uring: true, io_profile: 'none' } },
    command: ['/bin/sh', '-c', 'a && b'], restart: { policy: 'never', max: 3 },
  })
  expect(spec).toEqual({ name: 'a', preemptible: false, env: { X: '0', HF_TOKEN: '***' }, resources: { cpu: { cores: 2 } }, command: 'a && b' })
  expect(hasMasked(spec)).toBe(true)
})

test('a spec is written as people write it, and reads back the same', () => {
  const spec = { name: 'a', resources: { gpu: { count: 1, memory: '16Gi' }, cpu: { cores: 8 } }, command: ['python3', 'x.py'], mounts: [{ source: '/a', target: '/b' }] }
  expect(specText(spec)).toBe('name: a\nresources:\n  gpu: { count: 1, memory: 16Gi }\n  cpu: { cores: 8 }\ncommand: [ python3, x.py ]\nmounts:\n  - { source: /a, target: /b }\n')
  expect(parseJob(specText(spec)).spec).toEqual(spec)
})

test('commands: plain words are a list, more is a text for the shell', () => {
  expect(commandValue('python3 train.py --lr 1e-4')).toEqual(['python3', 'train.py', '--lr', '1e-4'])
  expect(commandValue('a && b')).toBe('a && b')
  expect(commandValue('X=1 python3')).toBe('X=1 python3')
  expect(commandValue('  ')).toBeUndefined()
  expect(commandText(['echo', 'a b'])).toBe("echo 'a b'")
  expect(envValue('A=1\nB=x=y\n\nnonsense')).toEqual({ A: '1', B: 'x=y' })
  expect(envText({ A: '1', B: 2 })).toBe('A=1\nB=2')
})

test('the CLI line says the same, or points to the file', () => {
  const { spec } = parseJob('name: a b\nresources:\n  gpu: { count: 2, memory: 16Gi }\n  cpu: { cores: 8 }\ncommand: [echo, "it\'s"]\nenv: { A: "1" }\n')
  expect(cliOf(spec)).toEqual({ whole: true, line: ["crater job submit", "--name 'a b'", '--gpu 2', '--gpu-memory 32768', '--cpu 8', '--env A=1', `-- echo 'it'\\''s'`].join(' \\\n  ') })
  expect(cliOf({ command: 'a && b', preemptible: false, mounts: [{ source: '/data', target: '/d', read_only: true }] }).line).toBe(["crater job submit", "--command 'a && b'", '--no-preemptible', '--mount /data:/d:ro'].join(' \\\n  '))
  expect(cliOf(parseJob(FILE).spec)).toEqual({ whole: false, line: 'crater job submit --file job.yaml' })
})
