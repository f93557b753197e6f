// A state: colour, icon and word together, so that colour never speaks alone.
import {
  CheckCircleFilled, ClockCircleOutlined, CloseCircleFilled, DisconnectOutlined, ExportOutlined, HourglassOutlined, PauseCircleOutlined, PlayCircleFilled,
  RollbackOutlined, StopOutlined, WarningFilled,
} from '@ant-design/icons'
import type { ReactNode } from 'react'
import { useText } from '../i18n'
import { lower, toneOf } from '../lib/states'

const ICONS: Record<string, ReactNode> = {
  pending: <ClockCircleOutlined />, preparing: <HourglassOutlined />, ready: <HourglassOutlined />, running: <PlayCircleFilled />,
  preempting: <PauseCircleOutlined />, preempted: <RollbackOutlined />, finished: <CheckCircleFilled />, failed: <CloseCircleFilled />,
  cancelled: <StopOutlined />, evicted: <ExportOutlined />, lost: <DisconnectOutlined />, up: <CheckCircleFilled />,
  draining: <PauseCircleOutlined />, unhealthy: <WarningFilled />,
}

export function StateIcon({ state }: { state?: string }) {
  const name = lower(state)
  return <span className={`tone-${toneOf(name)}`} aria-hidden>{ICONS[name] ?? <ClockCircleOutlined />}</span>
}

export function State({ state }: { state?: string }) {
  const { t, has } = useText()
  const name = lower(state)
  return (
    <span className="state">
      <StateIcon state={name} />
      {has(`state.${name}`) ? t(`state.${name}`) : state}
    </span>
  )
}

// "simulated", "advisory": said wherever they show.
export function Marks({ simulated, enforcement }: { simulated?: boolean; enforcement?: string }) {
  const { t } = useText()
  return (
    <>
      {simulated && <span className="mark" title={t('hint.simulated')}>{t('word.simulated')}</span>}
      {enforcement === 'advisory' && <span className="mark advisory" title={t('hint.advisory')}>{t('word.advisory')}</span>}
    </>
  )
}
