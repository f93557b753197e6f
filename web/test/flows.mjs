// What people do, done in a browser: sign in, search, filter, submit, cancel, drain, lose the connection. Against BASE_URL with TOKEN, else
// against the mock. Leaves pictures in build/screenshots. Against a real scheduler it submits one small job and cancels it.
import assert from 'node:assert/strict'
import { begin } from './browser.mjs'

const { base, token, out, browser, stop, mock } = await begin()
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'] })
const page = await context.newPage()
page.setDefaultTimeout(10_000)
const complaints = []
page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !expected.test(m.text())) complaints.push(`${m.text()} ${m.location().url}`) })
page.on('pageerror', (e) => complaints.push(e.stack))
let expected = /^$/
let count = 0
const shot = (name) => page.screenshot({ path: `${out}/flow-${String(++count).padStart(2, '0')}-${name}.png` })
const step = async (name, run) => {
  try {
    await run()
    console.log(`ok   ${name}`)
  } catch (e) {
    const text = e.message.split('\n').slice(0, 3).join(' ')
    complaints.push(`${name}: ${text}`)
    await shot(`FAILED-${name.replaceAll(' ', '-')}`)
    console.log(`FAIL ${name}: ${text}`)
    // A dialog left open would stand in the way of all that follows.
    await page.reload()
    await page.waitForTimeout(800)
  }
}
const see = (text) => page.getByText(text).first().waitFor({ timeout: 8000 })

await step('a wrong token is refused, a right one signs in', async () => {
  expected = /401/
  await page.goto(`${base}/`)
  await page.fill('#token', 'nonsense')
  await page.keyboard.press('Enter')
  await see('does not know this token')
  await shot('sign-in')
  expected = /^$/
  await page.fill('#token', token)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main#main')
})

await step('the event stream is open', () => page.waitForSelector('.live.live', { timeout: 8000 }))

await step('the language changes without a reload', async () => {
  await page.evaluate(() => { window.stays = true })
  await page.click('[data-test=language]')
  await see('总览')
  assert.equal(await page.evaluate(() => window.stays), true)
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN')
  await page.click('[data-test=language]')
  await see('Overview')
})

await step('slash searches, arrows move, Enter opens, Esc closes', async () => {
  await page.keyboard.press('/')
  await page.keyboard.type('node')
  await page.waitForSelector('.hit')
  await shot('search')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.length > 3)
  await page.keyboard.press('/')
  await page.waitForSelector('.hits')
  await page.keyboard.press('Escape')
  await page.waitForSelector('.hits', { state: 'detached' })
})

const name = `console-check-${Date.now() % 100000}`
await step('form and job file edit each other, and the fit is told', async () => {
  await page.goto(`${base}/#/submit`)
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.waitForFunction((n) => document.querySelector('[data-test=yaml]').value.includes(`name: ${n}`), name)
  await page.fill('[data-test=yaml]', `name: ${name}\nresources:\n  cpu: { cores: 1 }\n  memory: { size: 64Mi }\ncommand: [ sleep, "300" ]\nduration: 5m\n`)
  await page.waitForFunction(() => [...document.querySelectorAll('textarea')].some((a) => a.value === 'sleep 300'))
  await page.waitForSelector('[data-fit]', { timeout: 8000 })
  await shot('submit')
  await page.fill('[data-test=yaml]', 'name: [\n')
  await see('Line')
  await shot('submit-broken')
  await page.fill('[data-test=yaml]', `name: ${name}\nresources:\n  cpu: { cores: 100000 }\ncommand: [ sleep, "300" ]\n`)
  expected = /422/
  await page.waitForSelector('[data-fit=never]', { timeout: 8000 })
  await shot('submit-never')
  await page.fill('[data-test=yaml]', `name: ${name}\nresources:\n  cpu: { cores: 1 }\n  memory: { size: 64Mi }\ncommand: [ sleep, "300" ]\nduration: 5m\n`)
  expected = /^$/
  await page.waitForTimeout(300)
  await page.getByRole('main').getByRole('button', { name: 'Submit', exact: true }).click()
  await page.waitForFunction(() => location.hash.startsWith('#/jobs/'), null, { timeout: 8000 })
  await see(name)
})

await step('the new job moves on without a reload', () => see(mock ? /^Running$/ : /^(Running|Preparing|Waiting)$/))

await step('each tab is an address', async () => {
  for (const tab of ['Logs', 'Metrics', 'Binding', 'Events', 'Spec']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.waitForFunction((t) => location.hash.includes(`tab=${t.toLowerCase()}`), tab)
  }
  await page.goBack()
  await page.waitForFunction(() => location.hash.includes('tab=events'))
})

await step('cancel asks, and the job ends', async () => {
  await page.getByRole('button', { name: 'Cancel' }).first().click()
  await page.getByRole('dialog').waitFor()
  await shot('cancel')
  await page.getByRole('dialog').getByRole('textbox').fill('console check')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await see('Cancelled')
})

await step('filters live in the address, and a pasted address shows the same', async () => {
  await page.goto(`${base}/#/jobs?name=${name}`)
  await page.waitForSelector('.ant-table-row')
  assert.equal(await page.locator('.ant-table-row').count(), 1)
  await page.goto(`${base}/#/jobs`)
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.waitForFunction((n) => location.hash.includes(`name=${n}`), name)
  await page.waitForFunction(() => document.querySelectorAll('.ant-table-row').length === 1)
  await page.locator('.ant-table-row').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/jobs/'))
})

await step('CSV holds what the filters select', async () => {
  await page.goto(`${base}/#/jobs?name=${name}`)
  await page.waitForSelector('.ant-table-row')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  const text = await (await import('node:fs/promises')).readFile(await download.path(), 'utf8')
  assert.equal(text.trim().split('\r\n').length, 2)
  assert.ok(text.includes(name))
})

await step('columns are chosen, pages turn, Back works', async () => {
  await page.goto(`${base}/#/jobs?limit=50`)
  await page.waitForSelector('.ant-table-row')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('User', { exact: true }).click()
  await page.waitForFunction(() => location.hash.includes('cols='))
  await page.keyboard.press('Escape')
  const next = page.getByRole('button', { name: 'Next page' })
  if (await next.isEnabled()) {
    await next.click()
    await page.waitForFunction(() => location.hash.includes('cursor='))
    await see('51–100')
    await page.goBack()
    await see('1–50')
  }
  await shot('jobs')
})

await step('an address of nothing is answered in words', async () => {
  expected = /404/
  await page.goto(`${base}/#/jobs/no-such-job`)
  await page.waitForSelector('[role=alert]')
  await shot('no-such-job')
  await page.goto(`${base}/#/nowhere`)
  await see('There is nothing')
  expected = /^$/
})

await step('the heat map tells who holds a card, by pointer and by keys', async () => {
  await page.goto(`${base}/#/heatmap`)
  await page.waitForTimeout(1200)
  if ((await page.locator('.field').count()) === 0) return
  await page.locator('.field').focus()
  await page.keyboard.press('ArrowRight')
  await page.waitForSelector('.tip')
  await page.keyboard.press('+')
  await page.waitForFunction(() => location.hash.includes('size='))
  const box = await page.locator('.field canvas').boundingBox()
  for (let x = 140; x < 400 && !(await page.locator('.tip').count()); x += 12) await page.mouse.move(box.x + x, box.y + 36)
  await page.waitForSelector('.tip')
  await shot('heatmap')
  await page.locator('.field').focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/nodes/'))
})

await step('drain says what runs there before it does', async () => {
  await page.waitForSelector('.sentence')
  const drain = page.getByRole('button', { name: 'Drain' })
  if (!(await drain.count())) return
  await drain.click()
  await page.getByRole('dialog').waitFor()
  await page.waitForTimeout(300)
  await shot('drain')
  if (mock) {
    await page.getByRole('dialog').getByRole('button', { name: 'Drain it' }).click()
    await see('Draining')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume it' }).click()
    await page.getByRole('button', { name: 'Drain' }).waitFor()
  } else await page.keyboard.press('Escape')
})

if (mock) await step('a lost connection is told, greyed, and healed', async () => {
  await page.goto(`${base}/#/`)
  await page.waitForTimeout(500)
  expected = /Failed to load resource|ERR_/
  await context.setOffline(true)
  mock.cut()
  await page.waitForSelector('.banner', { timeout: 25_000 })
  await page.waitForTimeout(300)
  await shot('stale')
  await context.setOffline(false)
  await page.waitForSelector('.banner', { state: 'detached', timeout: 25_000 })
  expected = /^$/
})

await step('signing out forgets the token', async () => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForSelector('#token')
  assert.equal(await page.evaluate(() => Object.values({ ...localStorage, ...sessionStorage }).join().length > 0 && Object.keys({ ...localStorage, ...sessionStorage }).includes('crater.token')), false)
})

await browser.close()
stop()
for (const c of complaints) console.error(c)
console.log(`${complaints.length} complaints; pictures in ${out}`)
process.exit(complaints.length > 0 ? 1 : 0)
