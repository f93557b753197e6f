// One catalogue in two languages, switched without reload.
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'
import i18next from 'i18next'
import { initReactI18next, useTranslation } from 'react-i18next'
import { makeFormat, type Format, type Language } from '../lib/format'
import { en } from './en'
import { zh } from './zh'

const KEY = 'crater.language'

function first(): Language {
  const asked = new URLSearchParams(location.search).get('lang') ?? localStorage.getItem(KEY) ?? navigator.language
  return asked.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

function applied(language: string): void {
  dayjs.locale(language === 'zh' ? 'zh-cn' : 'en')
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

export function startLanguage(): void {
  void i18next.use(initReactI18next).init({
    lng: first(),
    fallbackLng: 'en',
    resources: { en: { translation: en }, zh: { translation: zh } },
    interpolation: { escapeValue: false },
    initImmediate: false,
  })
  applied(i18next.language)
}

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
  applied(language)
  void i18next.changeLanguage(language)
}

const formats: Record<Language, Format | undefined> = { en: undefined, zh: undefined }

// Translator, formats and language, together, because nearly every component needs all.
export function useText() {
  const { t, i18n } = useTranslation()
  const language: Language = i18n.language === 'zh' ? 'zh' : 'en'
  const f = (formats[language] ??= makeFormat(language))
  return { t, f, language, has: (key: string) => i18n.exists(key) }
}
export type Text = ReturnType<typeof useText>
