// Filters live in the address: a link pasted to a colleague shows the same view.
import { useCallback } from 'react'
import { useSearchParams } from 'react-router-dom'

export function useUrlState() {
  const [params, setParams] = useSearchParams()
  const get = (key: string) => params.get(key) ?? ''
  const set = useCallback(
    (changes: Record<string, string | undefined>, options?: { replace?: boolean }) =>
      setParams((before) => {
        const next = new URLSearchParams(before)
        for (const [key, value] of Object.entries(changes)) {
          if (value) next.set(key, value)
          else next.delete(key)
        }
        return next
      }, { replace: options?.replace }),
    [setParams],
  )
  return { params, get, set }
}
