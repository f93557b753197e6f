import { createRoot } from 'react-dom/client'
import { takeTokenFromAddress } from './api/token'
import { App } from './app/App'
import './app/styles.css'
import { startTheme } from './app/theme'
import { startLanguage } from './i18n'

takeTokenFromAddress()
window.addEventListener('hashchange', () => takeTokenFromAddress() && location.reload())
startLanguage()
startTheme()
createRoot(document.getElementById('root')!).render(<App />)
