// What the tab is called: the thing on the page first.
import { useEffect } from 'react'

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Crater`
    return () => { document.title = 'Crater' }
  }, [title])
}
