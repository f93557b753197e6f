// Addresses of pages. Each loads when first opened.
import { lazy } from 'react'
import { Link, Route, Routes } from 'react-router-dom'
import { useText } from '../i18n'

const Overview = lazy(() => import('../pages/overview/Overview'))
const HeatMap = lazy(() => import('../pages/heatmap/HeatMap'))
const Jobs = lazy(() => import('../pages/jobs/Jobs'))
const Job = lazy(() => import('../pages/job/Job'))
const Submit = lazy(() => import('../pages/submit/Submit'))
const Nodes = lazy(() => import('../pages/nodes/Nodes'))
const Node = lazy(() => import('../pages/node/Node'))

function Nowhere() {
  const { t } = useText()
  return <div className="empty">{t('word.notFound')} <Link to="/">{t('word.home')}</Link></div>
}

export function Pages() {
  return (
    <Routes>
      <Route path="/" element={<Overview />} />
      <Route path="/heatmap" element={<HeatMap />} />
      <Route path="/jobs" element={<Jobs />} />
      <Route path="/jobs/:id" element={<Job />} />
      <Route path="/submit" element={<Submit />} />
      <Route path="/nodes" element={<Nodes />} />
      <Route path="/nodes/:name" element={<Node />} />
      <Route path="*" element={<Nowhere />} />
    </Routes>
  )
}
