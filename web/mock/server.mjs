// A stand-in for the scheduler's API, for development and tests of the console only: `npm run mock`, then `npm run dev`.
// PORT (18080), PREFIX ("" or "/crater"), TOKEN ("dev"), NODES, JOBS. Serves web/dist too, so that tests need no second server.
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeCluster, makeJob, move, release, start } from './data.mjs'
import { cluster as clusterView, fit, metrics, nodeRow, nodeView, prune, queueView, topology, why } from './views.mjs'

const env = process.env
const port = Number(env.PORT ?? 18080)
const prefix = env.PREFIX ?? ''
const token = env.TOKEN ?? 'dev'
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const cluster = makeCluster({ nodes: Number(env.NODES ?? 200), jobs: Number(env.JOBS ?? 5000) })

class Refusal extends Error {
  constructor(status, code, message, field, hint) {
    super(message)
    Object.assign(this, { status, body: { error: { code, message, field, hint } } })
  }
}

const events = []
const listeners = new Set()
let sequence = 1000
function tell(kind, subject, state, reason, detail) {
  const event = { sequence: ++sequence, at: new Date().toISOString(), kind, subject, state, reason, detail }
  events.push(event)
  if (events.length > 2000) events.shift()
  cluster.revision++
  const text = `id: ${event.sequence}\ndata: ${JSON.stringify(prune(event))}\n\n`
  for (const res of listeners) res.write(text)
}

// A little life: something ends, something starts, every second.
setInterval(() => {
  const jobs = [...cluster.jobs.values()]
  const running = jobs.filter((j) => j.row.state === 'Running')
  const done = running[Math.floor(Math.random() * running.length)]
  if (done && Math.random() < 0.4) {
    release(cluster, done)
    move(done, Date.now(), 'Finished', 'exit_zero', '')
    done.row.ended = new Date().toISOString()
    tell('job', done.row.id, 'Finished', 'exit_zero')
  }
  for (const j of jobs.filter((j) => j.row.state === 'Preparing')) {
    j.row.started ??= new Date().toISOString()
    move(j, Date.now(), 'Running', 'process_started', '')
    tell('job', j.row.id, 'Running', 'process_started')
  }
  const waiting = jobs.filter((j) => j.row.state === 'Pending').reverse().slice(0, 20)
  for (const j of waiting) if (start(cluster, j, Date.now(), cluster.nodes.values())) tell('job', j.row.id, 'Preparing', 'placed')
}, 1000).unref()

process.on('SIGUSR2', () => listeners.forEach((res) => res.destroy()))

function page(rows, query) {
  const limit = Math.min(Number(query.get('limit') ?? 50), 1000)
  const from = Number(query.get('cursor') ?? 0)
  return { items: rows.slice(from, from + limit), next: from + limit < rows.length ? String(from + limit) : '', total: rows.length }
}

function known(query, ...names) {
  for (const key of query.keys()) if (!names.includes(key)) throw new Refusal(400, 'invalid', `unknown query parameter ${key}`, key)
}

function job(id) {
  const found = cluster.jobs.get(id)
  if (!found) throw new Refusal(404, 'not_found', `there is no job ${id}`, 'id', 'crater job list shows all jobs')
  return found
}
function node(name) {
  const found = cluster.nodes.get(name)
  if (!found) throw new Refusal(404, 'not_found', `there is no node ${name}`, 'name', 'crater node list shows all nodes')
  return found
}

const view = (j) => ({ job: j.row, spec: j.spec, tasks: j.tasks, timeline: j.timeline, decision: j.decision, notes: ['memory: 24 GiB, from the smallest ratio of the eligible nodes'] })

function listJobs(query) {
  known(query, 'status', 'queue', 'tenant', 'name', 'user', 'type', 'node', 'since', 'limit', 'cursor', 'sort')
  const states = (query.get('status') ?? '').toLowerCase().split(',').filter(Boolean)
  const since = query.get('since') ? Date.now() - parseInt(query.get('since'), 10) * 3_600_000 : 0
  const is = (key) => (row) => !query.get(key) || row[key] === query.get(key)
  const rows = [...cluster.jobs.values()].map((j) => j.row).filter((r) =>
    (states.length === 0 || states.includes(r.state.toLowerCase())) && is('queue')(r) && is('tenant')(r) && is('user')(r) && is('type')(r) &&
    (!query.get('node') || r.nodes.includes(query.get('node'))) &&
    (!query.get('name') || r.name.includes(query.get('name')) || r.id.includes(query.get('name'))) && (!since || Date.parse(r.submitted) >= since))
  const sort = query.get('sort') ?? '-submitted'
  const key = sort.replace(/^-/, '')
  rows.sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (sort.startsWith('-') ? -1 : 1))
  return page(rows, query)
}

function accept(spec) {
  if (!spec.command && !spec.image) throw new Refusal(400, 'invalid', 'a job needs a command or an image', 'command', 'command: [python3, train.py]')
  if (!spec.name) throw new Refusal(400, 'invalid', 'a name is missing', 'name')
  const answer = fit(cluster, spec)
  if (!answer.fits_ever) throw new Refusal(422, 'unsatisfiable', answer.summary, 'resources', 'ask for less, or see crater node list')
  const made = makeJob(spec, Date.now(), 'dev')
  cluster.jobs.set(made.row.id, made)
  tell('job', made.row.id, 'Pending', 'submitted')
  return view(made)
}

function act(id, verb, reason) {
  const j = job(id)
  if (verb === 'resume') move(j, Date.now(), 'Pending', 'requeued', reason)
  else {
    if (['Finished', 'Failed', 'Cancelled', 'Evicted'].includes(j.row.state)) throw new Refusal(409, 'conflict', `the job has ended: ${j.row.state}`)
    release(cluster, j)
    move(j, Date.now(), verb === 'cancel' ? 'Cancelled' : 'Evicted', verb === 'cancel' ? 'user_cancelled' : 'admin_evicted', reason)
    j.row.ended = new Date().toISOString()
  }
  tell('job', id, j.row.state, j.row.reason, reason)
  return view(j)
}

function logs(j, query, req, res) {
  res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' })
  const line = (n) => `${new Date(Date.now() - (400 - n) * 1000).toISOString()} step ${n} loss ${(2.5 / Math.sqrt(n + 1)).toFixed(4)} lr 3.0e-4 ${n % 50 === 0 ? 'checkpoint saved' : ''}\n`
  let n = 0
  const lines = j.row.state === 'Pending' ? 0 : Number(query.get('tail') ?? 400) || 400
  for (; n < Math.min(lines, 400); n++) res.write(line(n))
  if (query.get('follow') !== 'true' || j.row.state !== 'Running') return res.end()
  const timer = setInterval(() => res.write(line(n++)), 500)
  req.on('close', () => clearInterval(timer))
}

function stream(req, res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  res.write(': hello\n\n')
  const last = Number(req.headers['last-event-id'] ?? Infinity)
  for (const e of events) if (e.sequence > last) res.write(`id: ${e.sequence}\ndata: ${JSON.stringify(prune(e))}\n\n`)
  listeners.add(res)
  const beat = setInterval(() => res.write(':\n\n'), 10_000)
  req.on('close', () => { clearInterval(beat); listeners.delete(res) })
}

async function body(req) {
  let text = ''
  for await (const piece of req) text += piece
  try {
    return text ? JSON.parse(text) : {}
  } catch (e) {
    throw new Refusal(400, 'invalid', `not JSON: ${e.message}`)
  }
}

async function api(req, res, path, query) {
  if (token && req.headers.authorization !== `Bearer ${token}` && query.get('access_token') !== token)
    throw new Refusal(401, 'unauthenticated', 'no token, or one that is not known', '', 'crater token create')
  const [, kind, id, verb] = path.split('/').map(decodeURIComponent)
  const get = req.method === 'GET'
  if (get && kind === 'cluster') return clusterView(cluster)
  if (get && kind === 'events') return stream(req, res)
  if (get && kind === 'queues') return page(cluster.queues.map((q) => queueView(cluster, q)), query)
  if (get && kind === 'tenants') return page(cluster.tenants.map((path) => ({ path, max_priority: 700, max_pending: 10_000 })), query)
  if (get && kind === 'jobs' && !id) return listJobs(query)
  if (!get && kind === 'jobs' && !id) { const row = accept(await body(req)); res.statusCode = 201; return row }
  if (!get && kind === 'jobs' && verb) return act(id, verb, (await body(req)).reason)
  if (get && kind === 'jobs') {
    const j = job(id)
    if (!verb) return view(j)
    if (verb === 'why') return why(cluster, j)
    if (verb === 'events') return { items: j.timeline }
    if (verb === 'metrics') return metrics(j)
    if (verb === 'logs') return logs(j, query, req, res)
  }
  if (get && kind === 'nodes' && !id) {
    known(query, 'state', 'label', 'limit', 'cursor', 'sort')
    const [key, value] = (query.get('label') ?? '').split('=')
    return page([...cluster.nodes.values()].filter((n) => (!query.get('state') || query.get('state') === n.state) && (!key || n.labels[key] === value)).map(nodeRow), query)
  }
  if (get && kind === 'nodes' && !verb) return nodeView(node(id))
  if (get && kind === 'nodes' && verb === 'topology') return topology(node(id))
  if (!get && kind === 'nodes' && verb) {
    const n = node(id)
    const { reason } = await body(req)
    n.state = verb === 'drain' ? 'draining' : 'up'
    n.detail = verb === 'drain' ? reason : ''
    n.since = new Date().toISOString()
    tell('node', id, n.state, '', reason)
    return nodeRow(n)
  }
  if (!get && kind === 'plans') return fit(cluster, await body(req))
  throw new Refusal(404, 'not_found', `there is nothing at ${path}`)
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
async function asset(path, res) {
  const file = path === '' || path === '/' || path === '/dashboard' ? 'index.html' : normalize(path).replace(/^\/+/, '')
  try {
    const data = await readFile(join(dist, file))
    res.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
    res.end(data)
  } catch {
    res.writeHead(404).end()
  }
}

createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url, 'http://localhost')
  if (!pathname.startsWith(prefix)) return res.writeHead(404).end()
  const path = pathname.slice(prefix.length)
  if (!path.startsWith('/api/v1')) return asset(path, res)
  try {
    const answer = await api(req, res, path.slice('/api/v1'.length), searchParams)
    if (answer === undefined || res.headersSent) return
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(prune(answer)))
  } catch (e) {
    if (!(e instanceof Refusal)) console.error(e)
    res.writeHead(e.status ?? 500, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify(prune(e.body ?? { error: { code: 'internal', message: String(e) } })))
  }
}).listen(port, '127.0.0.1', () => console.log(`mock API on http://127.0.0.1:${port}${prefix}/#token=${token}`))

