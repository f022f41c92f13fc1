import { countOf } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { laneName } from '../store/lane-name.js'
import { AgainForm, NoteForm } from './row-forms.js'
import { AnswerForm, BreakForm, EditForm } from './held-forms.js'
import { CallForm } from './call-form.js'
import { HeldQueue } from './held-queue.js'
import {
  act,
  attachedTo,
  attaching,
  channel,
  form,
  gate,
  held,
  knownRules,
  leave,
  selected,
  takeControl,
  target,
} from './state.js'
import { door } from './door.js'

/** What can be done with the live capture that is looked at. */
export function Acting() {
  if (channel.value === undefined) {
    const one = target.value
    if (!one) return null
    return (
      <section class="act-bar" aria-label="Live capture">
        <button
          type="button"
          class="button small"
          disabled={attaching.value}
          title="Hold, edit and answer messages, send requests again, call tools"
          onClick={() => void takeControl(one)}
        >
          Take control of {clean(laneName(one))}
        </button>
      </section>
    )
  }
  return (
    <section class="act-bar" aria-label="Live capture">
      <Controls />
      <HeldQueue />
      <OpenForm />
    </section>
  )
}

function Controls() {
  const state = gate.value
  const holds = state?.hold === true
  const breakpoints = state?.breakpoints ?? []
  const chosen = ofAttached(selected.value)
  return (
    <div class="act-controls" role="group" aria-label="Control">
      <button
        type="button"
        class={`button small ${holds ? 'on' : ''}`}
        aria-pressed={holds}
        title="hold messages, or pass all on and hold no more"
        onClick={() => void act({ type: 'hold', on: !holds })}
      >
        {holds ? 'Pass all' : 'Hold'}
      </button>
      <Do
        name="Breakpoints"
        title="hold only what matches a filter"
        onClick={() => (form.value = { kind: 'break' })}
      >
        {breakpoints.length > 0 && <span class="count"> {breakpoints.length}</span>}
      </Do>
      {held.value.length > 1 && (
        <Do
          name="Forward all"
          title="pass on all that is held; go on holding"
          onClick={() => void act({ type: 'forward-all' })}
        />
      )}
      <RulesSwitch />
      <Do name="Call a tool" onClick={() => (form.value = { kind: 'call' })} />
      <Do
        name="Reload server"
        title="start the server again; its client stays connected"
        onClick={() => void act({ type: 'reload' }, 'the server was started again')}
      />
      {chosen && chosen.request >= 0 && (
        <Do
          name="Send again"
          title="send this request again and compare the answers"
          onClick={() => (form.value = { kind: 'again', row: selected.value })}
        />
      )}
      {chosen && (
        <Do
          name="Note"
          title="put a note about this message on the tape"
          onClick={() => (form.value = { kind: 'note', row: selected.value })}
        />
      )}
      <Do name="Leave" title="what is held goes its way when the last screen leaves" onClick={leave} />
      <span class="quiet" role="status">
        {countOf(held.value.length, 'held message')}
      </span>
    </div>
  )
}

function ofAttached(row: number): ReturnType<typeof door.rowFacts> | undefined {
  if (row < 0) return undefined
  const facts = door.rowFacts(row)
  return facts.lane === attachedTo.value ? facts : undefined
}

function RulesSwitch() {
  const rules = gate.value?.rules
  const file = rules?.file ?? knownRules.value
  if (file === undefined) return null
  const name = clean(file.split(/[\\/]/).at(-1)!)
  return (
    <button
      type="button"
      class={`button small ${rules ? 'on' : ''}`}
      aria-pressed={rules !== null && rules !== undefined}
      title={clean(rules?.fault ?? file)}
      onClick={() => void act({ type: 'rules', file: rules ? null : file })}
    >
      Rules {name}: {rules ? `on (${rules.count})` : 'off'}
    </button>
  )
}

function Do(props: {
  readonly name: string
  readonly title?: string
  readonly onClick: () => void
  readonly children?: preact.ComponentChildren
}) {
  return (
    <button type="button" class="button small" title={props.title} onClick={props.onClick}>
      {props.name}
      {props.children}
    </button>
  )
}

function OpenForm() {
  const open = form.value
  switch (open?.kind) {
    case 'edit':
      return <EditForm key={open.held.message} held={open.held} />
    case 'answer':
      return <AnswerForm key={open.held.message} held={open.held} />
    case 'again':
      return <AgainForm key={open.row} row={open.row} />
    case 'note':
      return <NoteForm key={open.row} row={open.row} />
    case 'call':
      return <CallForm />
    case 'break':
      return <BreakForm />
    case undefined:
      return null
  }
}
