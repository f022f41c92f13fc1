import type { CommandBody, GateState } from '../control-schema/index.js'
import { answerDraft, draft } from './compose.js'
import { openFound } from './found-list.js'
import type { Act } from './key-table.js'
import type { MessageLog } from './message-log.js'
import { countOf, indentJson } from '../render/index.js'
import { quoteValue } from '../filter/index.js'
import {
  layoutOf,
  selectedRow,
  type CommandPurpose,
  type Context,
  type Editor,
  type Notice,
  only,
  type Prompt,
  type ScreenState,
  type Step,
} from './state.js'
import { fieldOf } from './text-field.js'

/** Performs the action of a key from the table. */
export function perform(
  state: ScreenState,
  act: Act | 'again-edited',
  context: Context,
  about = selectedRow(state, context),
): Step {
  const { log, view } = context
  switch (act) {
    case 'down':
      return only(scrolled(state, 1))
    case 'up':
      return only(scrolled(state, -1))
    case 'page-down':
      return only(scrolled(state, pageOf(state)))
    case 'page-up':
      return only(scrolled(state, -pageOf(state)))
    case 'first':
      return only(
        state.focus === 'list' ? { ...state, cursor: 0, follow: false } : { ...state, detailTop: 0 },
      )
    case 'last':
      return only({ ...state, cursor: view.length - 1, follow: true })
    case 'follow':
      return follow(state)
    case 'next-error':
      return find(state, context, 1, (row) => log.row(row)?.failed === true, 'no later error')
    case 'previous-error':
      return find(state, context, -1, (row) => log.row(row)?.failed === true, 'no earlier error')
    case 'next-held':
      return nextHeld(state, context)
    case 'other-half':
      return otherHalf(state, context, about)
    case 'focus':
      return only({ ...state, focus: state.focus === 'list' ? 'detail' : 'list' })
    case 'zoom':
      return only({ ...state, zoom: !state.zoom, focus: state.zoom ? 'list' : 'detail' })
    case 'back':
      return back(state)
    case 'findings':
      return openFound(state, context, about)
    case 'help':
      return only({ ...state, helpTop: 0 })
    case 'filter':
      return ask(state, 'filter', state.filterText, about)
    case 'break':
      return ask(state, 'break', breakpointOf(state, context, about))
    case 'note':
      return ask(state, 'note', '')
    case 'save':
      return ask(state, 'save', context.hello.sessionFile)
    case 'intercept':
      return command(state, { type: 'hold', on: state.gate?.hold !== true }, 'hold')
    case 'forward':
    case 'drop':
      return decide(state, context, about, act)
    case 'forward-all':
      return command(state, { type: 'forward-all' }, 'forward-all')
    case 'edit':
    case 'answer':
      return write(state, context, about, act)
    case 'compose':
    case 'compose-back':
      return only({
        ...state,
        editor: draft(act === 'compose', log, about === undefined ? undefined : log.row(about)),
      })
    case 'again':
      return again(state, context, about)
    case 'again-edited':
      return againEdited(state, context, about)
    case 'copy':
      return copy(state, context, about)
    case 'editor':
      return openInEditor(state, context, about)
    case 'reload':
      return command(noticed(state, 'restarting the server …'), { type: 'reload' }, 'reload')
    case 'quit':
      return quit(state, context)
  }
}

function noticed(state: ScreenState, text: string, tone: Notice['tone'] = 'plain'): ScreenState {
  return { ...state, notice: { text, tone } }
}

function say(state: ScreenState, text: string): Step {
  return only(noticed(state, text))
}

function command(state: ScreenState, body: CommandBody, as: CommandPurpose, token?: number): Step {
  if (state.phase === 'ended' || state.phase === 'lost') {
    return only(noticed(state, 'the capture has ended', 'bad'))
  }
  return {
    state,
    effects: [{ kind: 'command', command: body, as, ...(token !== undefined && { token }) }],
  }
}

function ask(state: ScreenState, kind: Prompt['kind'], text: string, anchor?: number): Step {
  const prompt = { kind, field: fieldOf(text), ...(anchor !== undefined && { anchor }) }
  return only({ ...state, prompt })
}

function follow(state: ScreenState): Step {
  return say({ ...state, follow: !state.follow }, state.follow ? 'not following' : 'following new messages')
}

function copy(state: ScreenState, { log }: Context, about: number | undefined): Step {
  const text = about === undefined ? undefined : log.textOf(about)
  if (text === undefined) return say(state, 'nothing to copy here')
  return { state: noticed(state, 'copied', 'good'), effects: [{ kind: 'copy', text }] }
}

function openInEditor(state: ScreenState, context: Context, about: number | undefined): Step {
  const { log } = context
  const text = about === undefined ? undefined : log.textOf(about)
  if (text === undefined) return say(state, 'nothing to open here')
  const opened = log.heldOf(about) ? write(state, context, about, 'edit').state : state
  return { state: opened, effects: [{ kind: 'external', text: indentJson(text) }] }
}

function scrolled(state: ScreenState, by: number): ScreenState {
  if (state.focus === 'detail') return { ...state, detailTop: Math.max(0, state.detailTop + by) }
  return { ...state, cursor: Math.max(0, state.cursor + by), follow: false }
}

function pageOf(state: ScreenState): number {
  const { list, detail } = layoutOf(state)
  return Math.max(1, (state.focus === 'detail' ? detail : list) - 1)
}

function find(
  state: ScreenState,
  { view }: Context,
  by: 1 | -1,
  test: (row: number) => boolean,
  otherwise: string,
): Step {
  for (let index = state.cursor + by; ; index += by) {
    const row = view.at(index)
    if (row === undefined) return say(state, otherwise)
    if (test(row)) return only({ ...state, cursor: index, follow: false })
  }
}

/** To the response of a request, or the request of a response. */
function otherHalf(state: ScreenState, { log, view }: Context, about: number | undefined): Step {
  const peer = about === undefined ? -1 : (log.row(about)?.peer ?? -1)
  const index = peer < 0 ? -1 : view.indexOf(peer)
  if (peer < 0 || view.at(index) !== peer) return say(state, 'no matching request or response')
  return only({ ...state, cursor: index, follow: false })
}

function nextHeld(state: ScreenState, context: Context): Step {
  const { log, view } = context
  if (log.heldCount === 0) return say(state, 'no message is held')
  const found = find(state, context, 1, (row) => log.heldOf(row) !== undefined, '')
  const onward = (at: number): Pick<ScreenState, 'follow'> => ({
    follow: state.follow && at === view.length - 1,
  })
  if (!found.state.notice) return only({ ...found.state, ...onward(found.state.cursor) })
  const first = log.firstHeld
  const index = first === undefined ? -1 : view.indexOf(first)
  if (first === undefined || view.at(index) !== first)
    return say(state, 'the held messages are not in this list')
  return only({ ...state, cursor: index, ...onward(index) })
}

function back(state: ScreenState): Step {
  if (state.zoom) return only({ ...state, zoom: false, focus: 'list' })
  if (state.focus === 'detail') return only({ ...state, focus: 'list' })
  if (state.again) {
    const { again: _, ...rest } = state
    return only(rest)
  }
  if (state.filterText === '') return only(state)
  return {
    state: { ...state, filterText: '', follow: false },
    effects: [{ kind: 'filter', filter: undefined }],
  }
}

/** The filters in force, plus one that matches this message. */
function breakpointOf(state: ScreenState, { log }: Context, about: number | undefined): string {
  const set = state.gate?.breakpoints ?? []
  const row = about === undefined ? undefined : log.row(about)
  const { method, subject } = row?.part?.envelope ?? {}
  const of = method === undefined ? row?.request : { method, ...(subject !== undefined && { subject }) }
  if (!of) return set.join(' or ')
  const what = `method:${quoteValue(of.method)}`
  const filter =
    of.method === 'tools/call' && of.subject !== undefined ? `tool:${quoteValue(of.subject)}` : what
  if (set.includes(filter)) return set.join(' or ')
  return [...set.map((one) => (set.length > 0 ? `(${one})` : one)), filter].join(' or ')
}

function decide(
  state: ScreenState,
  { log }: Context,
  about: number | undefined,
  act: 'forward' | 'drop',
): Step {
  const held = log.heldOf(about)
  if (!held) return notHeld(state, log)
  return command(state, { type: act, message: held.message }, act)
}

function notHeld(state: ScreenState, { heldCount }: MessageLog): Step {
  const none = state.gate?.hold ? 'no message is held now' : 'no message is held (i starts holding)'
  return say(state, heldCount === 0 ? none : 'this message is not held (h goes to the next held one)')
}

function write(
  state: ScreenState,
  { log }: Context,
  about: number | undefined,
  act: 'edit' | 'answer',
): Step {
  const held = log.heldOf(about)
  if (!held) return notHeld(state, log)
  const row = log.row(about!)
  if (act === 'answer' && row?.kind !== 'request') return say(state, 'only a request can get a response')
  const editor: Editor = {
    purpose: act,
    title: act === 'edit' ? 'edit the held message' : 'answer the request: {"result": …} or {"error": …}',
    message: held.message,
    row: about!,
    field: fieldOf(act === 'edit' ? indentJson(held.text) : answerDraft(log, row!), 'start'),
    original: held.text,
  }
  return only({ ...state, editor })
}

function again(state: ScreenState, { log }: Context, about: number | undefined): Step {
  const row = about === undefined ? undefined : log.row(about)
  const request = row && (row.kind === 'result' || row.kind === 'error') ? log.row(row.peer) : row
  const message = request?.kind === 'request' ? log.idOf(request.row) : undefined
  if (request?.kind === 'request' && message === undefined)
    return say(state, 'messages on a --strict-v1 tape have no ids')
  if (!request || message === undefined) return say(state, 'only a request can be sent again')
  if (request.state === 'waiting') return say(state, 'the request is still held (f forwards it)')
  const sent = log.textOf(request.row) ?? ''
  const before = request.peer >= 0 ? log.textOf(request.peer) : undefined
  const token = state.lastToken + 1
  const asked = { again: { row: about!, token, sent, before }, lastToken: token }
  const shown = { ...state, ...asked, detailTop: 0, follow: false }
  return command(shown, { type: 'replay', message }, 'again', token)
}

function againEdited(state: ScreenState, { log }: Context, about: number | undefined): Step {
  const row = about === undefined ? undefined : log.row(about)
  const request = row?.kind === 'request' ? row : row && log.row(row.peer)
  const message = request && log.idOf(request.row)
  const text = request && log.textOf(request.row)
  if (message === undefined || text === undefined) return only(state)
  const before = request!.peer >= 0 ? log.textOf(request!.peer) : undefined
  const editor: Editor = {
    purpose: 'again',
    title: 'send again: replace [REDACTED] with the real values',
    message,
    row: request!.row,
    field: fieldOf(indentJson(text), 'start'),
    original: text,
  }
  const { lastToken: token } = state
  return only({ ...state, editor, again: { row: about!, token, sent: text, before }, follow: false })
}

function quit(state: ScreenState, { owner, log }: Context): Step {
  const isOver = state.phase === 'ended' || state.phase === 'lost'
  if (isOver) return { state, effects: [{ kind: 'quit' }] }
  if (owner) {
    if (log.heldCount > 0 && !state.quitAsked) {
      const words = `${fateOf(log, state.gate)} when the capture ends (press q again to end it)`
      return only({ ...noticed(state, words), quitAsked: true })
    }
    if (state.saveFailed)
      return { state, effects: [{ kind: 'command', command: { type: 'stop' }, as: 'stop' }] }
    return {
      state: noticed(state, 'saving…'),
      effects: [{ kind: 'command', command: { type: 'save' }, as: 'save-and-stop' }],
    }
  }
  const last = (state.gate?.screens ?? 1) <= 1
  if (log.heldCount > 0 && last && !state.quitAsked) {
    const what = state.gate?.onDetach === 'drop' ? 'dropped' : 'forwarded'
    const held = log.heldCount === 1 ? '1 held message is' : `${log.heldCount} held messages are`
    return only({
      ...noticed(state, `${held} ${what} when you leave (press q again to leave)`),
      quitAsked: true,
    })
  }
  return { state, effects: [{ kind: 'quit' }] }
}

/** How the capture's end affects held messages: it drops the client's and forwards the server's. */
function fateOf(log: MessageLog, gate: GateState | undefined): string {
  const onward = gate?.onDetach === 'drop' ? 0 : log.heldAnswers
  const lost = log.heldCount - onward
  const goes = onward === 1 ? 'is forwarded' : 'are forwarded'
  if (lost === 0) return `${countOf(onward, 'held message')} of the server ${goes}`
  const gets = lost === 1 ? '1 held message is' : `${lost} held messages are`
  return `${gets} dropped${onward === 0 ? '' : `, ${onward} ${goes}`}`
}
