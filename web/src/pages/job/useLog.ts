// The log of one task: read to its end, and then followed while the task lives.
import { useEffect, useRef, useState } from 'react'
import { ApiError, open, seg } from '../../api/client'
import { LogLines } from '../../lib/logLines'

const TAIL = 5_000

export interface Log { lines: string[]; dropped: number; status: 'reading' | 'following' | 'ended' | 'failed'; error?: ApiError; version: number }

export function useLog(job: string, task: number, attempt: number | undefined, live: boolean, begun: boolean): Log {
  const [log, set] = useState<Log>({ lines: [], dropped: 0, status: 'reading', version: 0 })
  const version = useRef(0)
  useEffect(() => {
    const control = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (kept: LogLines, status: Log['status'], error?: ApiError) => {
      clearTimeout(timer)
      timer = undefined
      if (!control.signal.aborted) set({ lines: kept.lines, dropped: kept.dropped, status, error, version: ++version.current })
    }
    const read = async () => {
      const kept = new LogLines()
      try {
        const response = await open(`/jobs/${seg(job)}/logs`, { follow: live || undefined, tail: TAIL, task: task || undefined, attempt }, { signal: control.signal })
        const reader = response.body!.getReader()
        const decoder = new TextDecoder()
        for (;;) {
          const { done, value } = await reader.read()
          if (done) break
          kept.push(decoder.decode(value, { stream: true }))
          timer ??= setTimeout(() => show(kept, live ? 'following' : 'reading'), 100)
        }
        kept.end()
        show(kept, 'ended')
      } catch (e) {
        if (!control.signal.aborted) show(kept, 'failed', e instanceof ApiError ? e : new ApiError(0, 'unreachable', String(e)))
      }
    }
    set({ lines: [], dropped: 0, status: 'reading', version: ++version.current })
    if (begun) void read()
    return () => {
      control.abort()
      clearTimeout(timer)
    }
  }, [job, task, attempt, live, begun])
  return log
}
