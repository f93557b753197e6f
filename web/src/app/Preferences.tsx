// Language and colours, switched in place.
import { BgColorsOutlined, GlobalOutlined } from '@ant-design/icons'
import { Button, Dropdown } from 'antd'
import { setLanguage, useText } from '../i18n'
import { setTheme, useThemeChoice, type Choice } from './theme'

export function Preferences() {
  const { t, language } = useText()
  const choice = useThemeChoice()
  const other = language === 'zh' ? 'en' : 'zh'
  return (
    <span className="nowrap">
      {/* The language one can switch to is named in itself. */}
      <Button type="text" size="small" icon={<GlobalOutlined />} lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => setLanguage(other)} data-test="language">
        {other === 'zh' ? '中文' : 'English'}
      </Button>
      <Dropdown
        trigger={['click']}
        menu={{
          selectedKeys: [choice],
          items: (['system', 'light', 'dark'] as Choice[]).map((key) => ({ key, label: t(`app.theme.${key}`) })),
          onClick: ({ key }) => setTheme(key as Choice),
        }}
      >
        <Button type="text" size="small" icon={<BgColorsOutlined />} title={t('app.theme.label')} aria-label={t('app.theme.label')} />
      </Dropdown>
    </span>
  )
}
