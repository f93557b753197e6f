// A browser, and something to look at: BASE_URL with TOKEN, else the mock on web/dist under a path prefix.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

async function server(env) {
  if (env.BASE_URL) return { base: env.BASE_URL.replace(/\/$/, ''), token: env.TOKEN ?? '', stop: () => {} }
  const port = 18_000 + (process.pid % 1000)
  const child = spawn(process.execPath, [fileURLToPath(new URL('../mock/server.mjs', import.meta.url))], {
    env: { ...env, PORT: String(port), PREFIX: '/crater', TOKEN: 'dev' }, stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((ready) => child.stdout.once('data', ready))
  // On SIGUSR2 the mock drops its event streams, as a scheduler does that goes away.
  return { base: `http://127.0.0.1:${port}/crater`, token: 'dev', stop: () => child.kill(), mock: { cut: () => child.kill('SIGUSR2') } }
}

export async function begin() {
  const env = process.env
  const out = env.OUT ?? fileURLToPath(new URL('../../build/screenshots', import.meta.url))
  mkdirSync(out, { recursive: true })
  const where = await server(env)
  const browser = await chromium.launch({ executablePath: env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
  return { ...where, out, browser }
}
