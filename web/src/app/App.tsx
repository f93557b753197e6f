// Providers, the sign-in gate and the one event stream.
import { QueryClientProvider } from '@tanstack/react-query'
import { App as AntApp, ConfigProvider } from 'antd'
import enUS from 'antd/locale/en_US'
import zhCN from 'antd/locale/zh_CN'
import { useEffect, useSyncExternalStore } from 'react'
import { HashRouter } from 'react-router-dom'
import { whenUnauthenticated } from '../api/client'
import { followVisibility, onEvents, startLive, stopLive } from '../api/live'
import { client, invalidate, staleKeys } from '../api/queries'
import { getToken, onToken, setToken } from '../api/token'
import { useText } from '../i18n'
import { Shell } from './Shell'
import { SignIn } from './SignIn'
import { antdTheme, useScheme } from './theme'

function useStream(signedIn: boolean) {
  useEffect(() => {
    if (!signedIn) return
    const forget = onEvents((events, resumed) => {
      if (resumed) void client.invalidateQueries()
      else staleKeys(events).forEach((key) => invalidate(key))
    })
    const unfollow = followVisibility()
    startLive()
    return () => {
      forget()
      unfollow()
      stopLive()
    }
  }, [signedIn])
}

whenUnauthenticated(() => {
  if (getToken() === null) return
  client.clear()
  setToken(null, false)
})

export function App() {
  const { language } = useText()
  const scheme = useScheme()
  const signedIn = useSyncExternalStore(onToken, getToken) !== null
  useStream(signedIn)
  return (
    <ConfigProvider theme={antdTheme(scheme)} locale={language === 'zh' ? zhCN : enUS} componentSize="small" button={{ autoInsertSpace: false }}>
      <QueryClientProvider client={client}>
        <AntApp component="div" message={{ duration: 3 }}>
          {signedIn ? (
            <HashRouter future={{ v7_startTransition: true, v7_relativeSplatPath: true }}>
              <Shell />
            </HashRouter>
          ) : (
            <SignIn />
          )}
        </AntApp>
      </QueryClientProvider>
    </ConfigProvider>
  )
}
