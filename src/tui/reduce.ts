import { pressInFound } from './found-list.js'
import { pressInEditor, pressInHelp, pressInPrompt } from './reduce-forms.js'
import { perform } from './perform.js'
import { actOf } from './key-table.js'
import { fieldOf } from './text-field.js'
import { formatDuration } from '../render/index.js'
import {
  layoutOf,
  only,
  type Action,
  type Context,
  type Editor,
  type ScreenState,
  type Step,
} from './state.js'

/** The next state of a screen, and the effects to run. Pure, except for the content of log and view. */
export function reduce(state: ScreenState, action: Action, context: Context): Step {
  const step = apply(state, action, context)
  return { ...step, state: inBounds(step.state, context) }
}

function apply(state: ScreenState, action: Action, context: Context): Step {
  switch (action.type) {
    case 'key':
      return press(state, action, context)
    case 'resize':
      return only({ ...state, columns: action.columns, rows: action.rows })
    case 'rows':
      return only({ ...state, version: state.version + 1 })
    case 'filtered': {
      const row = state.prompt?.anchor ?? action.row
      const cursor = row === undefined ? state.cursor : context.view.indexOf(row)
      return only({ ...state, cursor, top: Math.max(0, cursor - layoutOf(state).list + 1) })
    }
    case 'gate': {
      const fault = action.gate.rules?.fault
      // A screen that attached later has not seen this problem yet.
      const isNew = fault !== undefined && fault !== state.gate?.rules?.fault
      const notice = { text: `the previous rules stay in force: ${fault}`, tone: 'bad' as const }
      return only({ ...state, gate: action.gate, ...(isNew && { notice }) })
    }
    case 'phase':
      return only({ ...state, phase: action.phase })
    case 'released': {
      const { editor } = state
      if (!editor || editor.message !== action.message || editor.purpose === 'again') return only(state)
      return only({
        ...state,
        editor: { ...editor, fault: `the message is no longer held: it was ${action.outcome}` },
      })
    }
    case 'notice':
      return only({ ...state, notice: action.notice })
    case 'edited':
      return only(state.editor ? { ...state, editor: rewritten(state.editor, action.text) } : state)
    case 'done':
      return done(state, action)
    case 'failed':
      return failed(state, action, context)
  }
}

/** The editor with a new text, which has not been sent yet. */
function rewritten({ token: _, fault: __, ...editor }: Editor, text: string): Editor {
  return { ...editor, field: fieldOf(text, 'start') }
}

function press(state: ScreenState, { key }: Extract<Action, { type: 'key' }>, context: Context): Step {
  const { notice: _, ...quiet } = state
  if (quiet.editor) return pressInEditor(quiet, quiet.editor, key, context)
  if (quiet.prompt) return pressInPrompt(quiet, quiet.prompt, key, context)
  if (quiet.found) return pressInFound(quiet, quiet.found, key, context)
  if (quiet.helpTop !== undefined) return only(pressInHelp(quiet, quiet.helpTop, key))
  const act = actOf(key.name)
  if (act === undefined) return only(state)
  const asked = { ...quiet, quitAsked: act === 'quit' && quiet.quitAsked }
  return perform(asked, act, context)
}

function done(state: ScreenState, action: Extract<Action, { type: 'done' }>): Step {
  const { result } = action
  const good = (text: string): Step => only({ ...state, notice: { text, tone: 'good' } })
  switch (action.as) {
    case 'edit':
    case 'answer':
    case 'compose':
      return only({ ...closed(state, action), notice: { text: outcomeWords(action), tone: 'good' } })
    case 'again': {
      const rest = closed(state, action)
      if (!rest.again || rest.again.token !== action.token) return only(rest)
      const { sent, answer, latencyMs } = result
      const again = {
        ...rest.again,
        ...(sent !== undefined && { sent }),
        ...(answer !== undefined && { answer }),
        ...(latencyMs !== undefined && { latencyMs }),
      }
      return only({ ...rest, again })
    }
    case 'save':
      return good(`saved ${result.path ?? ''}`)
    case 'reload':
      return good('the server restarted')
    case 'save-and-stop':
      return { state, effects: [{ kind: 'command', command: { type: 'stop' }, as: 'stop' }] }
    case 'stop':
      return { state, effects: [{ kind: 'quit' }] }
    case 'note':
      return good('note added to the tape')
    case 'forward-all':
      return good(`${result.count ?? 0} forwarded`)
    case 'break':
      return good('only messages that match the filter are held')
    case 'unbreak':
      return good(state.gate?.hold ? 'no breakpoints: all messages are held' : 'no breakpoints')
    case 'forward':
    case 'drop':
    case 'hold':
      return only(state)
  }
}

/** Closes the editor that was confirmed; another one stays open. */
function closed(state: ScreenState, { token }: Extract<Action, { type: 'done' }>): ScreenState {
  if (!isAsking(state.editor, token)) return state
  const { editor: _, ...rest } = state
  return rest
}

function isAsking(editor: Editor | undefined, token: number | undefined): editor is Editor {
  return token !== undefined && editor?.token === token
}

function outcomeWords({ as, result }: Extract<Action, { type: 'done' }>): string {
  if (as === 'edit') return 'changed and forwarded'
  if (as === 'answer') return 'answered'
  if (result.answer === undefined) return 'sent'
  const after = result.latencyMs === undefined ? '' : ` after ${formatDuration(result.latencyMs * 1000)}`
  return `sent; response${after} is in the list`
}

function failed(state: ScreenState, action: Extract<Action, { type: 'failed' }>, context: Context): Step {
  const { as, message, code, token } = action
  if (isAsking(state.editor, token)) {
    const { token: _, ...editor } = state.editor
    return only({ ...state, editor: { ...editor, fault: message } })
  }
  if (as === 'again' && state.again && state.again.token === token) {
    // The recorded request is redacted: the user must supply the original values, unless already writing.
    if (code === 'redacted' && !state.editor && !state.prompt) {
      const { again: _, ...rest } = state
      return perform(rest, 'again-edited', context, state.again.row)
    }
    return only({ ...state, again: { ...state.again, fault: message } })
  }
  if (as === 'save-and-stop') {
    return {
      state: {
        ...state,
        saveFailed: true,
        notice: { text: `not saved: ${message}; press q to end without saving`, tone: 'bad' },
      },
      effects: [],
    }
  }
  return only({ ...state, notice: { text: message, tone: 'bad' } })
}

/**
 * Keeps the cursor on a row, and that row on the screen. A chosen held message stays chosen while others
 * arrive: the next key decides about it.
 */
function inBounds(state: ScreenState, { log, view }: Context): ScreenState {
  const last = view.length - 1
  const chosen = view.at(state.cursor)
  const follows = state.follow && (chosen === undefined || log.heldOf(chosen) === undefined)
  const list = Math.max(1, layoutOf(state).list)
  const cursor = follows ? last : Math.max(Math.min(state.cursor, last), Math.min(0, last))
  // After the list became longer, it is filled again.
  const top = Math.max(0, Math.min(state.top, cursor, last - list + 1), cursor - list + 1)
  const detailTop = cursor === state.cursor ? state.detailTop : 0
  if (cursor === state.cursor && top === state.top && detailTop === state.detailTop) return state
  return { ...state, cursor, top, detailTop }
}
