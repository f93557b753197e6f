import { expect, test } from 'vitest'
import { staleKeys } from '../src/api/queries'
import { SseParser, type SseEvent } from '../src/api/sse'

function parse(pieces: string[]): SseEvent[] {
  const events: SseEvent[] = []
  const parser = new SseParser((e) => events.push(e))
  pieces.forEach((p) => parser.push(p))
  return events
}
const text = ': hello\r\n\r\nid: 7\r\ndata: {"a":1}\r\n\r\nevent: node\ndata: x\ndata: y\n\nid\ndata:z\n\n'
const wanted = [{ id: '7', event: 'message', data: '{"a":1}' }, { id: '7', event: 'node', data: 'x\ny' }, { id: '', event: 'message', data: 'z' }]

test('events are the same however the stream is cut', () => {
  expect(parse([text])).toEqual(wanted)
  expect(parse([...text])).toEqual(wanted)
  for (let i = 0; i < text.length; i++) expect(parse([text.slice(0, i), text.slice(i)]), `cut at ${i}`).toEqual(wanted)
})

test('comments and empty events say nothing; what is not ended is not told', () => {
  expect(parse([':\n\n', '\n\n', 'id: 3\n\n', 'data: half'])).toEqual([])
})

test('a burst of events makes each answer old once', () => {
  const keys = staleKeys([{ kind: 'job', subject: 'a' }, { kind: 'job', subject: 'a' }, { kind: 'job', subject: 'b' }, { kind: 'node', subject: 'n' }])
  expect(keys.map((k) => k.join('/')).sort()).toEqual(['cluster', 'job/a', 'job/b', 'jobs', 'node', 'node/n', 'nodes', 'queues'])
})
