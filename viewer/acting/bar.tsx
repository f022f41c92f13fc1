import { countOf } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { laneName } from '../store/lane-name.js'
import type { Lane } from '../worker/protocol.js'
import { AgainForm } from './again-form.js'
import { NoteForm } from './row-forms.js'
import { AnswerForm, BreakForm, EditForm } from './held-forms.js'
import { Bench, benchOpen } from './bench.js'
import { ConnectForm, connecting } from './connect.js'
import { HeldQueue } from './held-queue.js'
import { lanes, selected } from '../store/state.js'
import {
  act,
  attachedTo,
  attaching,
  channel,
  finished,
  form,
  gate,
  held,
  knownRules,
  leave,
  recordingOf,
  takeControl,
  target,
  tell,
  wordsOf,
} from './state.js'
import { door } from './door.js'
import { OverrideForm, RulesForm } from './rules-forms.js'
import { questions, session } from './session.js'
import { store } from './place.js'
import { canOverride, canSendAgain } from './possible.js'
import { Leading, SavingRow } from './row-actions.js'

/** Actions on the server of the current recording. */
export function Acting() {
  const isAttached = channel.value !== undefined
  return (
    <>
      {isAttached && (
        <section class="act-bar" aria-label="Live capture">
          <Controls />
          {!benchOpen.value && <HeldQueue />}
          <OpenForm />
        </section>
      )}
      {lanes.value.length > 0 && connecting.value && (
        <ConnectForm key={connecting.value.id} {...connecting.value} />
      )}
      <Leading />
      <SavingRow />
      {(isAttached || session.value) && <Bench />}
    </>
  )
}

/** In the top bar of the page: the actions that can be started. */
export function Offers() {
  const one = target.value
  // Commands from other machines are never run here.
  const before = one || store.value !== null ? undefined : finished.value
  const isAttached = channel.value !== undefined
  return (
    <>
      {session.value && (
        <button
          type="button"
          class={`button small ${benchOpen.value ? 'on' : ''}`}
          aria-pressed={benchOpen.value}
          title="Show the server's tools, prompts, resources and requests"
          onClick={() => (benchOpen.value = !benchOpen.value)}
        >
          Workbench
          {questions.value.length > 0 && <span class="count"> {questions.value.length}</span>}
        </button>
      )}
      {!isAttached && one && (
        <button
          type="button"
          class="button small"
          disabled={attaching.value}
          aria-label={`Take control of ${clean(laneName(one))}`}
          title="Hold, edit and answer messages, send requests again, call tools"
          onClick={() => void takeControl(one)}
        >
          Take control
        </button>
      )}
      {!isAttached && before && !session.value && (
        <button
          type="button"
          class="button small"
          aria-label={`Connect to the server of ${clean(laneName(before))}`}
          title="Call the server's tools. You review the command first."
          onClick={() => void connectTo(before)}
        >
          Connect
        </button>
      )}
    </>
  )
}

async function connectTo(lane: Lane): Promise<void> {
  try {
    connecting.value = { id: await recordingOf(lane), label: laneName(lane) }
  } catch (error) {
    tell(wordsOf(error), 'bad')
  }
}

function Controls() {
  const state = gate.value
  const holds = state?.hold === true
  const breakpoints = state?.breakpoints ?? []
  const chosen = ofAttached(selected.value)
  return (
    <div class="act-controls" role="group" aria-label="Capture controls">
      <button
        type="button"
        class={`button small ${holds ? 'on' : ''}`}
        aria-pressed={holds}
        title={holds ? 'Forward all held messages and stop holding' : 'Hold messages until you decide'}
        onClick={() => void act({ type: 'hold', on: !holds })}
      >
        {holds ? 'Stop holding' : 'Hold'}
      </button>
      <Do
        name="Breakpoints"
        title="Hold only messages that match a filter"
        onClick={() => (form.value = { kind: 'break' })}
      >
        {breakpoints.length > 0 && <span class="count"> {breakpoints.length}</span>}
      </Do>
      {held.value.length > 1 && (
        <Do
          name="Forward all"
          title="Forward all held messages and keep holding new ones"
          onClick={() => void act({ type: 'forward-all' })}
        />
      )}
      <RulesSwitch />
      <Do
        name="Rules"
        title="Show the rules of this capture"
        onClick={() => (form.value = { kind: 'rules' })}
      />
      {!session.value && <Do name="Call a tool" onClick={() => (benchOpen.value = true)} />}
      {state?.canReload === true && (
        <Do
          name="Reload server"
          title="Restart the server; the client stays connected"
          onClick={() => void act({ type: 'reload' }, 'Server restarted.')}
        />
      )}
      {chosen && canSendAgain(selected.value) && (
        <Do
          name="Send again"
          title="Send this request again and compare the responses"
          onClick={() => (form.value = { kind: 'again', row: selected.value })}
        />
      )}
      {chosen && canOverride(selected.value) && (
        <Do
          name="Override"
          title="Add a rule that answers calls like this one"
          onClick={() => (form.value = { kind: 'override', row: selected.value })}
        />
      )}
      {chosen && (
        <Do
          name="Add note"
          title="Add a note about this message to the recording"
          onClick={() => (form.value = { kind: 'note', row: selected.value })}
        />
      )}
      <Do
        name="Release control"
        title="Held messages are forwarded when the last screen detaches"
        onClick={leave}
      />
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
  const base = file.split(/[\\/]/).at(-1)!
  // wiretape's own rules file is named by the session id.
  const name = /^[\da-f-]{36}\.yaml$/.test(base) ? 'of this capture' : clean(base)
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
    case 'override':
      return <OverrideForm key={open.row} row={open.row} />
    case 'rules':
      return <RulesForm />
    case 'break':
      return <BreakForm />
    case undefined:
      return null
  }
}
