// Whose token this is, for "mine". The API tells in ClusterView.you; a scheduler that does not yet tells with the first job submitted.
import { useCluster } from './queries'
import { getToken } from './token'

const KEY = 'crater.me'

// Kept for this token only, told apart by a short checksum.
const mark = () => String([...(getToken() ?? '')].reduce((h, c) => (h * 31 + c.charCodeAt(0)) & 0xffff, 7))

export function rememberMe(user?: string): void {
  if (user) localStorage.setItem(KEY, JSON.stringify([mark(), user]))
}

function remembered(): string | undefined {
  try {
    const [whose, user] = JSON.parse(localStorage.getItem(KEY) ?? '[]') as string[]
    return whose === mark() ? user : undefined
  } catch {
    return undefined
  }
}

export function useMe(): { name?: string; role?: string; tenant?: string } {
  const you = useCluster().data?.you
  return you ?? { name: remembered() }
}
