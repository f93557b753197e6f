import { Button, Checkbox, Input } from 'antd'
import { useState } from 'react'
import { ApiError, url } from '../api/client'
import { setToken } from '../api/token'
import { useText } from '../i18n'
import { Failure } from '../ui/parts'
import { Preferences } from './Preferences'

async function check(token: string): Promise<void> {
  const response = await fetch(url('/cluster'), { headers: token ? { Authorization: `Bearer ${token}` } : {} }).catch(() => {
    throw new ApiError(0, 'unreachable', '')
  })
  if (response.status === 401) throw new ApiError(401, 'unauthenticated', '')
  if (!response.ok) throw new ApiError(response.status, 'http', `HTTP ${response.status}`)
}

export function SignIn() {
  const { t } = useText()
  const [token, typed] = useState('')
  const [keep, setKeep] = useState(true)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)

  const go = async () => {
    setBusy(true)
    setError(null)
    try {
      await check(token.trim())
      setToken(token.trim(), keep)
    } catch (e) {
      setError(e as ApiError)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <div className="row brand"><img src="./favicon.svg" alt="" />{t('app.name')}</div>
        <h1>{t('signIn.title')}</h1>
        <p className="soft">{t('signIn.text')}</p>
        <label htmlFor="token">{t('signIn.token')}</label>
        <Input.Password id="token" size="middle" autoFocus autoComplete="current-password" value={token} onChange={(e) => typed(e.target.value)} />
        <div className="faint small">{t('signIn.empty')}</div>
        <Checkbox checked={keep} onChange={(e) => setKeep(e.target.checked)}>{t('signIn.keep')}</Checkbox>
        {error && (error.status === 401 ? <div className="problem-box" role="alert">{t('signIn.wrong')}</div> : <Failure error={error} />)}
        <div className="row">
          <Button type="primary" size="middle" htmlType="submit" loading={busy}>{t('signIn.go')}</Button>
          <span className="space" />
          <Preferences />
        </div>
      </form>
    </main>
  )
}
