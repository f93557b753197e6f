// The frame around every page: navigation, search, the state of the live connection.
import { LogoutOutlined, SearchOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { Suspense, useEffect, useState } from 'react'
import { Link, NavLink, useLocation } from 'react-router-dom'
import { useLive } from '../api/live'
import { client, useCluster } from '../api/queries'
import { setToken } from '../api/token'
import { useText } from '../i18n'
import { useNow } from '../lib/clock'
import { Bones } from '../ui/parts'
import { Boundary } from './Boundary'
import { Pages } from './pages'
import { Preferences } from './Preferences'
import { Search } from './Search'

const NAV = [['/', 'overview'], ['/heatmap', 'heatmap'], ['/jobs', 'jobs'], ['/submit', 'submit'], ['/nodes', 'nodes']] as const
const STALE_MS = 10_000
// A tenant's token may not list nodes.
const NODES_ONLY = new Set(['heatmap', 'nodes'])

function useStale() {
  const live = useLive()
  useNow(1)
  return live.status === 'lost' && Date.now() - live.since > STALE_MS ? live.since : null
}

function Live() {
  const { t } = useText()
  const { status } = useLive()
  const name = status === 'open' ? 'live' : status === 'lost' ? 'lost' : 'connecting'
  return <span className={`live ${name}`} role="status" title={t(`app.${name}`)}>{t(`app.${name}`)}</span>
}

function Foot() {
  const { t, f } = useText()
  const { data } = useCluster()
  return (
    <footer className="foot">
      <span>{t('app.zone', { zone: f.zone })}</span>
      {data?.version && <span>{t('app.version', { version: data.version })}</span>}
      {data?.revision !== undefined && <span>{t('app.revision', { revision: f.whole(data.revision) })}</span>}
      {data?.state_hash && <span title={data.state_hash}>{t(data.state_hash_verified === false ? 'app.hash.unverified' : 'app.hash.verified')}</span>}
      <span>{t('app.keys')}</span>
    </footer>
  )
}

export function Shell() {
  const { t, f } = useText()
  const { data: cluster } = useCluster()
  const tenant = cluster?.you?.role === 'tenant'
  const [searching, search] = useState(false)
  const stale = useStale()
  const { pathname } = useLocation()
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement
      if (e.key !== '/' || e.ctrlKey || e.metaKey || at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return
      e.preventDefault()
      search(true)
    }
    document.addEventListener('keydown', key)
    return () => document.removeEventListener('keydown', key)
  }, [])
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus() }}>{t('app.skip')}</a>
      <header className="top">
        <Link className="brand" to="/"><img src="./favicon.svg" alt="" />{t('app.name')}{cluster?.name && <small>{cluster.name}</small>}</Link>
        <nav className="nav">
          {NAV.filter(([, name]) => !tenant || !NODES_ONLY.has(name)).map(([to, name]) => <NavLink key={to} to={to} end={to === '/'}>{t(`nav.${name}`)}</NavLink>)}
        </nav>
        <span className="space" />
        <button type="button" className="finder" onClick={() => search(true)} title={t('search.open')} aria-label={t('search.open')}>
          <SearchOutlined /><span>{t('search.placeholder')}</span><kbd>/</kbd>
        </button>
        <Live />
        <Preferences />
        <Button type="text" size="small" icon={<LogoutOutlined />} title={t('app.signOut')} aria-label={t('app.signOut')}
          onClick={() => { client.clear(); setToken(null, false) }} />
      </header>
      <main id="main" tabIndex={-1} className={stale ? 'main stale' : 'main'}>
        {stale && <div className="banner" role="alert">{t('app.stale', { since: f.clock(stale) })}<span className="soft">{t('app.reconnecting')}</span></div>}
        <Boundary key={pathname}>
          <Suspense fallback={<Bones rows={10} />}><Pages /></Suspense>
        </Boundary>
      </main>
      <Foot />
      {searching && <Search close={() => search(false)} />}
    </div>
  )
}
