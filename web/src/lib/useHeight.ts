// The height from an element's top to the bottom of the window, less what stands below it: for tables that scroll inside.
import { useCallback, useEffect, useState } from 'react'

export function useHeight<E extends HTMLElement>(below: number, least = 260) {
  const [element, ref] = useState<E | null>(null)
  const [height, set] = useState(480)
  const measure = useCallback(() => {
    if (!element) return
    const top = element.getBoundingClientRect().top + window.scrollY
    set(Math.max(least, Math.floor(window.innerHeight - top - below - 64)))
  }, [element, below, least])
  useEffect(() => {
    measure()
    window.addEventListener('resize', measure)
    return () => window.removeEventListener('resize', measure)
  }, [measure])
  return { ref, height }
}
