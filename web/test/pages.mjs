// Opens every page in both languages against BASE_URL (default: the mock, started here on web/dist), fails on any console error or
// warning, and leaves pictures in build/screenshots. BASE_URL, TOKEN, OUT, ONLY=overview,jobs, CHROMIUM.
import { begin } from './browser.mjs'

const env = process.env
const { base, token, out, browser, stop } = await begin()
const complaints = []
const api = async (path) => (await fetch(`${base}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } })).json()
const first = async (path) => (await api(path)).items?.[0]

const running = await first('/jobs?status=running&limit=1')
const waiting = await first('/jobs?status=pending&limit=1')
const anyJob = running ?? (await first('/jobs?limit=1'))
const node = (await first('/nodes?limit=1'))?.name
const pages = {
  overview: '/',
  heatmap: '/heatmap',
  jobs: '/jobs',
  ...(waiting ? { waiting: `/jobs/${waiting.id}` } : {}),
  ...(anyJob ? { job: `/jobs/${anyJob.id}`, logs: `/jobs/${anyJob.id}?tab=logs`, metrics: `/jobs/${anyJob.id}?tab=metrics`, binding: `/jobs/${anyJob.id}?tab=binding`,
    events: `/jobs/${anyJob.id}?tab=events`, spec: `/jobs/${anyJob.id}?tab=spec` } : {}),
  submit: '/submit',
  nodes: '/nodes',
  ...(node ? { node: `/nodes/${node}` } : {}),
}
const only = env.ONLY?.split(',')

async function visit(context, name, path, file, width) {
  const page = await context.newPage()
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complaints.push(`${file}: ${m.text()} ${m.location().url}`) })
  page.on('pageerror', (e) => complaints.push(`${file}: ${e.stack}`))
  await page.goto(`${base}/#${path}`)
  await page.waitForSelector('main#main', { timeout: 60_000 })
  await page.waitForTimeout(name === 'metrics' ? 2500 : 1400)
  const missing = await page.evaluate(() => document.body.innerText.match(/\b[a-z]+(?:\.[a-zA-Z_]+)+\b/g)?.filter((x) => /^(app|nav|word|jobs?|nodes?|heat|submit|overview|state|reason|resource|error|bar)\./.test(x)) ?? [])
  if (missing.length > 0) complaints.push(`${file}: texts without a translation: ${missing}`)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  if (wide > 1) complaints.push(`${file}: ${wide} px wider than ${width}`)
  await page.screenshot({ path: `${out}/${file}.png`, fullPage: true })
  await page.close()
}

for (const [language, scheme, width] of [['en', 'light', 1440], ['zh', 'dark', 1440], ['en', 'light', 390]]) {
  if (env.VIEW && env.VIEW !== `${language}${width}`) continue
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, locale: language === 'zh' ? 'zh-CN' : 'en-GB' })
  const login = await context.newPage()
  await login.goto(`${base}/#token=${encodeURIComponent(token)}`)
  await login.waitForSelector('main#main', { timeout: 60_000 })
  if (login.url().includes('token')) complaints.push('the token stayed in the address bar')
  await login.close()
  for (const [name, path] of Object.entries(pages)) {
    if (only && !only.includes(name)) continue
    await visit(context, name, path, `${name}-${language}-${scheme}-${width}`, width)
  }
  await context.close()
}
await browser.close()
stop()
for (const c of complaints) console.error(c)
console.log(`${Object.keys(pages).length} pages, ${complaints.length} complaints; pictures in ${out}`)
process.exit(complaints.length > 0 ? 1 : 0)
