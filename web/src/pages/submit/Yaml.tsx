// The job file: a textarea over its own coloured copy, with line numbers.
import { useRef } from 'react'
import { useText } from '../../i18n'

function Coloured({ line }: { line: string }) {
  const m = /^(\s*(?:- )?)([^\s#:'"{[][^#:]*)(:)(?=\s|$)(.*)$/.exec(line)
  const rest = (text: string) => {
    const at = /(^|\s)#/.exec(text)?.index ?? -1
    return at < 0 ? text : <>{text.slice(0, at)}<i>{text.slice(at)}</i></>
  }
  return <div>{m ? <>{m[1]}<b>{m[2]}</b>{m[3]}{rest(m[4])}</> : rest(line)}{line === '' && ' '}</div>
}

export function Yaml({ text, change, bad }: { text: string; change: (text: string) => void; bad?: number }) {
  const { t } = useText()
  const area = useRef<HTMLTextAreaElement>(null)
  const lines = text.split('\n')
  return (
    <div className="yaml">
      <div className="gutter" aria-hidden>{lines.map((_, i) => <div key={i} className={bad === i + 1 ? 'bad' : undefined}>{i + 1}</div>)}</div>
      <div className="paper">
        <pre aria-hidden>{lines.map((line, i) => <Coloured key={i} line={line} />)}</pre>
        <textarea ref={area} aria-label={t('submit.yaml')} value={text} spellCheck={false} autoCapitalize="off" autoCorrect="off" wrap="off" data-test="yaml"
          onChange={(e) => change(e.target.value)}
          onKeyDown={(e) => {
            if (e.key !== 'Enter' || e.shiftKey || e.ctrlKey || e.nativeEvent.isComposing) return
            // A new line begins below the text of the one before.
            e.preventDefault()
            const at = e.currentTarget
            const before = text.slice(0, at.selectionStart)
            const line = before.slice(before.lastIndexOf('\n') + 1)
            const indent = /^\s*/.exec(line)![0] + (/:\s*$/.test(line) ? '  ' : '')
            at.setRangeText(`\n${indent}`, at.selectionStart, at.selectionEnd, 'end')
            change(at.value)
          }} />
      </div>
    </div>
  )
}
