import type { CommandBody, GateState, ReleaseOutcome, ServerHello, Success } from '../control-schema/index.js'
import type { Filter } from '../filter/index.js'
import type { Direction } from '../model/index.js'
import type { Again } from './again.js'
import type { FoundList } from './found.js'
import type { Key } from './keys.js'
import type { MessageLog } from './message-log.js'
import type { RowView } from './row-view.js'
import type { TextField } from './text-field.js'

/** The state of the screen. The rows themselves are in `Context`. */
export interface ScreenState {
  readonly columns: number
  readonly rows: number
  /** Index in the view; -1 while it is empty. */
  readonly cursor: number
  /** Index in the view of the first row shown. */
  readonly top: number
  /** The cursor follows the newest row. */
  readonly follow: boolean
  readonly focus: 'list' | 'detail'
  /** The message fills the whole screen. */
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
  /** The newest token of a command whose response the screen awaits. */
  readonly lastToken: number
  /** The next `q` leaves even if messages are held. */
  readonly quitAsked: boolean
  /** Saving the session failed at the end: the next `q` ends the capture anyway. */
  readonly saveFailed?: true
  /** Incremented when rows are added or changed. */
  readonly version: number
}

/** A prompt for a line of text at the bottom. */
export interface Prompt {
  readonly kind: 'filter' | 'break' | 'note' | 'save'
  readonly field: TextField
  readonly fault?: string
  /** The row chosen when the prompt was opened; the cursor returns to it. */
  readonly anchor?: number
}

/** An editor for a message. */
export interface Editor {
  readonly purpose: 'edit' | 'answer' | 'again' | 'compose'
  readonly title: string
  /** Id of the edited or answered message; undefined for a new message. */
  readonly message?: string
  readonly row?: number
  readonly direction?: Direction
  readonly field: TextField
  /** Its exact original text; if unchanged, it is forwarded as received. */
  readonly original: string
  readonly fault?: string
  /** Set when the current text was confirmed and its outcome is not known yet. */
  readonly token?: number
}

export interface Notice {
  readonly text: string
  readonly tone: 'plain' | 'good' | 'bad'
}

/** A side effect of a step. */
export type Effect =
  | {
      readonly kind: 'command'
      readonly command: CommandBody
      readonly as: CommandPurpose
      /** Returned with the outcome, so that it reaches only the part of the screen that asked. */
      readonly token?: number
    }
  /** `row`: the new cursor row; without it, the cursor stays. */
  | { readonly kind: 'filter'; readonly filter: Filter | undefined; readonly row?: number }
  | { readonly kind: 'copy'; readonly text: string }
  /** Opens the user's editor; the saved text comes back as `edited`. */
  | { readonly kind: 'external'; readonly text: string }
  | { readonly kind: 'quit' }

/** The reason for a command; selects the notice about its outcome. */
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
  /** Rows were added or changed; the log and the view are up to date. */
  | { readonly type: 'rows' }
  /** Another filter is in force; `row` was the cursor's row. */
  | { readonly type: 'filtered'; readonly row: number | undefined }
  | { readonly type: 'gate'; readonly gate: GateState }
  | { readonly type: 'phase'; readonly phase: ScreenState['phase'] }
  /** A message is no longer held. */
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

/** The data of a screen besides its state. */
export interface Context {
  readonly hello: ServerHello
  readonly log: MessageLog
  readonly view: RowView
  /** This screen started the capture: leaving it ends the capture. */
  readonly owner: boolean
  /** The screen shows finished recordings. */
  readonly saved?: boolean
}

export interface Step {
  readonly state: ScreenState
  readonly effects: readonly Effect[]
}

/** A step without effects. */
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

/** Number of lines of each part of the screen. */
export interface Layout {
  readonly width: number
  readonly list: number
  readonly detail: number
}

/** Lines outside list and detail: title, head of the list, rule, status, hints. */
const frameLines = 5

export function layoutOf({ columns, rows, zoom }: ScreenState): Layout {
  // The last line of a terminal stays empty: a full one would scroll.
  const body = Math.max(2, rows - 1 - frameLines)
  if (zoom) return { width: columns, list: 0, detail: body + 1 }
  const list = Math.max(1, Math.floor(body * (body < 12 ? 0.5 : 0.42)))
  return { width: columns, list, detail: body - list }
}

/** The row under the cursor. */
export function selectedRow(state: ScreenState, { view }: Context): number | undefined {
  return view.at(state.cursor)
}
