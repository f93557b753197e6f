// One palette for Ant Design, our own CSS (custom properties on :root) and the canvases.
import { theme as antd, type ThemeConfig } from 'antd'
import { useSyncExternalStore } from 'react'
import { TONE_COLOURS } from '../lib/states'

export type Choice = 'system' | 'light' | 'dark'
export type Scheme = 'light' | 'dark'

export const PALETTE = {
  light: {
    ground: '#f3f5f8', surface: '#ffffff', raised: '#f8f9fb', line: '#e0e4ea', text: '#1b2430', soft: '#525d6c', faint: '#667080',
    accent: '#1d5fbf', track: '#e4e8ee', allocated: '#a9c5ec', used: '#1d5fbf', warnGround: '#fff6e0', okGround: '#eef7f3',
  },
  dark: {
    ground: '#0e1217', surface: '#151a21', raised: '#1a2029', line: '#2a323d', text: '#dfe5ec', soft: '#a3aebb', faint: '#8c97a6',
    accent: '#6ea8ff', track: '#28303a', allocated: '#2f5390', used: '#7fb3ff', warnGround: '#2b2413', okGround: '#14241f',
  },
} as const

// Light to dark: more. The dark theme turns it round, so that more always stands out.
const RAMP = {
  light: ['#c9def2', '#9fc5e6', '#6aa6d6', '#2f7dbb', '#0f5496', '#082f63'],
  dark: ['#1f4468', '#265a8c', '#2f74ad', '#4b9bd3', '#83c2ee', '#cdeaff'],
} as const

export function ramp(scheme: Scheme, part: number): string {
  const colours = RAMP[scheme]
  return colours[Math.min(colours.length - 1, Math.max(0, Math.floor(part * colours.length)))]
}
export const rampColours = (scheme: Scheme) => RAMP[scheme]

const KEY = 'crater.theme'
const media = matchMedia('(prefers-color-scheme: dark)')
const watchers = new Set<() => void>()
let choice: Choice = (localStorage.getItem(KEY) as Choice | null) ?? 'system'
const scheme = (): Scheme => (choice === 'system' ? (media.matches ? 'dark' : 'light') : choice)

function apply(): void {
  const root = document.documentElement
  const now = scheme()
  root.dataset.theme = now
  for (const [name, value] of Object.entries(PALETTE[now])) root.style.setProperty(`--${name}`, value)
  for (const [name, value] of Object.entries(TONE_COLOURS[now])) root.style.setProperty(`--tone-${name}`, value)
  watchers.forEach((tell) => tell())
}

export function startTheme(): void {
  media.addEventListener('change', apply)
  apply()
}

export function setTheme(next: Choice): void {
  choice = next
  localStorage.setItem(KEY, next)
  apply()
}

const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
export const useScheme = () => useSyncExternalStore(watch, scheme)
export const useThemeChoice = () => useSyncExternalStore(watch, () => choice)

export const FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Hiragino Sans GB', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans', 'DejaVu Sans', sans-serif"

export function antdTheme(now: Scheme): ThemeConfig {
  const p = PALETTE[now]
  const tone = TONE_COLOURS[now]
  return {
    algorithm: now === 'dark' ? antd.darkAlgorithm : antd.defaultAlgorithm,
    cssVar: { key: 'crater' },
    hashed: false,
    token: {
      colorPrimary: p.accent, colorInfo: p.accent, colorLink: p.accent, colorSuccess: tone.running, colorWarning: tone.waiting, colorError: tone.failed,
      colorText: p.text, colorTextSecondary: p.soft, colorTextTertiary: p.faint, colorTextDescription: p.faint, colorTextPlaceholder: p.faint,
      colorBgLayout: p.ground, colorBgContainer: p.surface, colorBgElevated: now === 'dark' ? p.raised : p.surface,
      colorBorder: now === 'dark' ? '#3a4451' : '#cdd3db', colorBorderSecondary: p.line, colorSplit: p.line,
      fontFamily: FONT, fontSize: 13, borderRadius: 4, controlHeight: 30, controlHeightSM: 26, motionDurationMid: '0.1s', motionDurationSlow: '0.15s',
    },
    components: {
      Table: { cellPaddingBlockSM: 5, cellPaddingInlineSM: 8, headerBg: p.raised, headerColor: p.soft, rowHoverBg: p.raised, headerSplitColor: 'transparent', cellFontSizeSM: 13 },
      Tabs: { horizontalMargin: '0 0 12px 0', horizontalItemPaddingSM: '8px 0' },
      Button: { primaryColor: now === 'dark' ? '#0b1220' : '#ffffff', primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' },
      Segmented: { trackBg: p.track },
      Form: { itemMarginBottom: 10, verticalLabelPadding: '0 0 2px' },
    },
  }
}
