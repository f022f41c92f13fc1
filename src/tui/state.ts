import type { CommandBody, GateState, ReleaseOutcome, ServerHello, Success } from '../control-schema/index.js'
import type { Filter } from '../filter/index.js'
import type { Direction } from '../model/index.js'
import type { Again } from './again.js'
import type { FoundList } from './found.js'
import type { Key } from './keys.js'
import type { MessageLog } from './message-log.js'
import type { RowView } from './row-view.js'
import type { TextField } from './text-field.js'

/** What is on the screen. The rows themselves are in `Context`. */
export interface ScreenState {
  readonly columns: number
  readonly rows: number
  /** Place in the view; -1 while it is empty. */
  readonly cursor: number
  /** First place of the view that is shown. */
  readonly top: number
  /** The cursor stays on what came last. */
  readonly follow: boolean
  readonly focus: 'list' | 'detail'
  /** The message has the whole screen. */
  readonly zoom: boolean
  readonly detailTop: number
  readonly filterText: string
  readonly prompt?: Prompt
  readonly editor?: Editor
  readonly helpTop?: number
  /** The list of findings is open. */
  readonly found?: FoundList
  readonly gate?: GateState
  readonly phase: 'loading' | 'live' | 'ended' | 'lost'
  readonly notice?: Notice
  /** A request that was sent again; shown while the cursor is on its row. */
  readonly again?: { readonly row: number; readonly token: number } & Again
  /** The newest token of a command whose answer something on the screen waits for. */
  readonly lastToken: number
  /** The next `q` leaves although something is held. */
  readonly quitAsked: boolean
  /** The session could not be saved at the end: the next `q` ends the capture all the same. */
  readonly saveFailed?: true
  /** Counted up when rows came or changed. */
  readonly version: number
}

/** A line of text that is asked for at the bottom. */
export interface Prompt {
  readonly kind: 'filter' | 'break' | 'note' | 'save'
  readonly field: TextField
  readonly fault?: string
  /** The row that was chosen when it was asked for: the cursor comes back to it. */
  readonly anchor?: number
}

/** A message that is being written. */
export interface Editor {
  readonly purpose: 'edit' | 'answer' | 'again' | 'compose'
  readonly title: string
  /** The message it is about; none for one that is new. */
  readonly message?: string
  readonly row?: number
  readonly direction?: Direction
  readonly field: TextField
  /** Its exact text before: what is not changed is passed on as it came. */
  readonly original: string
  readonly fault?: string
  /** It was confirmed as it stands, and what came of that is not known yet. */
  readonly token?: number
}

export interface Notice {
  readonly text: string
  readonly tone: 'plain' | 'good' | 'bad'
}

/** What cannot be done by changing a state. */
export type Effect =
  | {
      readonly kind: 'command'
      readonly command: CommandBody
      readonly as: CommandPurpose
      /** Given back with what came of it: whatever else is on the screen by then is not meant. */
      readonly token?: number
    }
  /** `row`: where the cursor comes to; where it was, without it. */
  | { readonly kind: 'filter'; readonly filter: Filter | undefined; readonly row?: number }
  | { readonly kind: 'copy'; readonly text: string }
  /** Opens the user's editor; what is saved there comes back as `edited`. */
  | { readonly kind: 'external'; readonly text: string }
  | { readonly kind: 'quit' }

/** Why a command was sent: what to say when it is done. */
export type CommandPurpose =
  | 'forward'
  | 'forward-all'
  | 'drop'
  | 'edit'
  | 'answer'
  | 'compose'
  | 'again'
  | 'hold'
  | 'break'
  | 'unbreak'
  | 'save'
  | 'reload'
  | 'save-and-stop'
  | 'stop'
  | 'note'

export type Action =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'resize'; readonly columns: number; readonly rows: number }
  /** Rows came or changed; the log and the view have them already. */
  | { readonly type: 'rows' }
  /** Another filter is in force; `row` is where the cursor was. */
  | { readonly type: 'filtered'; readonly row: number | undefined }
  | { readonly type: 'gate'; readonly gate: GateState }
  | { readonly type: 'phase'; readonly phase: ScreenState['phase'] }
  /** A held message waits no more. */
  | { readonly type: 'released'; readonly message: string; readonly outcome: ReleaseOutcome }
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'edited'; readonly text: string }
  | {
      readonly type: 'done'
      readonly as: CommandPurpose
      readonly token?: number
      readonly result: Success
    }
  | {
      readonly type: 'failed'
      readonly as: CommandPurpose
      readonly token?: number
      readonly message: string
      readonly code?: string
    }

/** What a screen looks at besides its state. */
export interface Context {
  readonly hello: ServerHello
  readonly log: MessageLog
  readonly view: RowView
  /** This screen began the capture: leaving it ends it. */
  readonly owner: boolean
  /** It shows recordings that were made. */
  readonly saved?: boolean
}

export interface Step {
  readonly state: ScreenState
  readonly effects: readonly Effect[]
}

/** Nothing but another state. */
export const only = (state: ScreenState): Step => ({ state, effects: [] })

export function initialState(columns: number, rows: number): ScreenState {
  return {
    columns,
    rows,
    cursor: -1,
    top: 0,
    follow: true,
    focus: 'list',
    zoom: false,
    detailTop: 0,
    filterText: '',
    phase: 'loading',
    lastToken: 0,
    quitAsked: false,
    version: 0,
  }
}

/** How many lines each part of the screen has. */
export interface Layout {
  readonly width: number
  readonly list: number
  readonly detail: number
}

/** Lines that are neither list nor detail: title, head of the list, rule, status, hints. */
const frameLines = 5

export function layoutOf({ columns, rows, zoom }: ScreenState): Layout {
  // The last line of a terminal stays free: what fills it would scroll.
  const body = Math.max(2, rows - 1 - frameLines)
  if (zoom) return { width: columns, list: 0, detail: body + 1 }
  const list = Math.max(1, Math.floor(body * (body < 12 ? 0.5 : 0.42)))
  return { width: columns, list, detail: body - list }
}

/** The row under the cursor. */
export function selectedRow(state: ScreenState, { view }: Context): number | undefined {
  return view.at(state.cursor)
}
