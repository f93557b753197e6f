// The bearer token; "" is a scheduler without tokens, null is nobody signed in. A link with #token=... signs in; the token leaves the address bar before anything else runs.
const KEY = 'crater.token'
type Listener = () => void
const listeners = new Set<Listener>()
let current: string | null = null

function stored(): string | null {
  try {
    return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function tokenInHash(hash: string): string | null {
  const found = /(?:^#|[?&])token=([^&]*)/.exec(hash)
  return found ? decodeURIComponent(found[1]) : null
}

export function takeTokenFromAddress(): boolean {
  const token = tokenInHash(location.hash)
  if (token === null) return false
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  if (token) setToken(token, true)
  return true
}

export function getToken(): string | null {
  return current ?? (current = stored())
}

export function setToken(token: string | null, remember: boolean): void {
  current = token
  try {
    sessionStorage.removeItem(KEY)
    localStorage.removeItem(KEY)
    if (token !== null) (remember ? localStorage : sessionStorage).setItem(KEY, token)
  } catch {
    // Storage is closed to us: the token lives as long as the page.
  }
  listeners.forEach((tell) => tell())
}

export function onToken(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
