import { useCluster, useQueues, useTenants } from '../../api/queries'
import { useText } from '../../i18n'
import { commandText, commandValue, envText, envValue } from '../../lib/cli'
import { ChoiceField, NumberField, TextField, type Draft } from './fields'

const TYPES = ['training', 'inference', 'batch', 'interactive']
const PRIORITIES = ['low', 'medium', 'high', 'critical']

export function Form({ draft }: { draft: Draft }) {
  const { t } = useText()
  const queues = useQueues().data?.items ?? []
  const tenants = useTenants().data?.items ?? []
  const models = [...new Set((useCluster().data?.free ?? []).map((f) => f.model ?? ''))]
  const names = (list: string[]) => list.map((value) => ({ value, label: value }))
  return (
    <>
      <h2>{t('submit.basics')}</h2>
      <div className="fields">
        <TextField draft={draft} path="name" label={t('submit.name')} wide="most" />
        <NumberField draft={draft} path="tasks" label={t('submit.tasks')} hint="1" min={1} />
        <ChoiceField draft={draft} path="type" label={t('submit.type')} hint={t('submit.typeAuto')} options={TYPES.map((value) => ({ value, label: t(`type.${value}`) }))} />
        <ChoiceField draft={draft} path="queue" label={t('submit.queue')} hint={t('submit.queueAuto')} options={names(queues.map((q) => q.spec.name))} />
        <ChoiceField draft={draft} path="tenant" label={t('submit.tenant')} hint={t('submit.tenantAuto')} options={names(tenants.map((x) => x.path ?? ''))} />
        <ChoiceField draft={draft} path="priority" label={t('submit.priority')} hint={t('submit.priorityAuto')} options={PRIORITIES.map((value) => ({ value, label: t(`submit.${value}`) }))} />
      </div>
      <h2>{t('submit.where')}</h2>
      <div className="fields">
        <NumberField draft={draft} path="resources.gpu.count" label={t('submit.gpuCount')} hint={t('submit.gpuCountHint')} />
        <TextField draft={draft} path="resources.gpu.memory" label={t('submit.gpuMemory')} hint={t('submit.gpuMemoryHint')} />
        <TextField draft={draft} path="resources.gpu.model" label={t('submit.gpuModel')} hint={t('overview.anyModel')} options={models} />
        <ChoiceField draft={draft} path="resources.gpu.interconnect" label={t('submit.interconnect')} hint="any" options={names(['any', 'nvlink', 'same_numa'])} />
        <NumberField draft={draft} path="resources.cpu.cores" label={t('submit.cores')} />
        <TextField draft={draft} path="resources.memory.size" label={t('submit.memory')} hint="32Gi" />
        <TextField draft={draft} path="resources.disk.size" label={t('submit.disk')} hint="100Gi" />
        <NumberField draft={draft} path="resources.disk.iops" label={t('submit.iops')} step={1000} />
      </div>
      <h2>{t('submit.run')}</h2>
      <div className="fields">
        <TextField draft={draft} path="command" label={t('submit.command')} wide rows={1} parse={commandValue} show={commandText} />
        <TextField draft={draft} path="image" label={t('submit.image')} wide />
        <TextField draft={draft} path="working_dir" label={t('submit.workingDir')} wide="most" />
        <ChoiceField draft={draft} path="restart.policy" label={t('submit.restart')} hint={t('submit.restartNever')} options={[{ value: 'never', label: t('submit.restartNever') }, { value: 'on_failure', label: t('submit.restartOnFailure') }]} />
        <TextField draft={draft} path="env" label={t('submit.env')} hint={t('submit.envHint')} wide rows={1} parse={envValue} show={envText} />
        <ChoiceField draft={draft} path="preemptible" label={t('submit.preemptible')} hint={t('submit.preemptibleAuto')} options={[{ value: true, label: t('word.yes') }, { value: false, label: t('word.no') }]} />
        <TextField draft={draft} path="grace_period" label={t('submit.grace')} hint="30s" />
        <TextField draft={draft} path="duration" label={t('submit.duration')} hint="2h" />
        <TextField draft={draft} path="time_limit" label={t('submit.timeLimit')} />
      </div>
    </>
  )
}
