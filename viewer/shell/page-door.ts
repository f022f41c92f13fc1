import { effect, signal, type Signal } from '@preact/signals'
import type { ListedRecording } from '../../src/control-schema/index.js'
import { reader } from '../store/actions.js'
import { lanes, notice, table, type Notice } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'
import type { OfferHistory } from '../worker/tools.js'
import { home, openListed } from './landing.js'
import { fetchWiretape } from './token.js'

/** An action for one row, in its menu. */
export interface RowAction {
  readonly name: string
  readonly run: () => void
}

/** The page's interface for the acting script, which only `wiretape ui` serves. */
export interface PageDoor {
  readonly notice: Signal<Notice | undefined>
  /** Lane, request and response of a row's exchange. */
  rowFacts(row: number): { readonly lane: number; readonly request: number; readonly answer: number }
  detail(row: number): Promise<Detail>
  /** Tools, prompts and resources offered by the servers of the open recordings. */
  offers(): Promise<readonly OfferHistory[]>
  /** The element for the list of recordings, while no recording is open. */
  readonly home: Signal<HTMLElement | null>
  /** Opens recordings of the list. */
  openListed(recordings: readonly ListedRecording[]): Promise<void>
  /** Actions for a row, set by the acting script. */
  readonly rowActions: Signal<(row: number) => readonly RowAction[]>
  /** Sends the token too. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** Actions of the acting script for a row. */
export const rowActions = signal<(row: number) => readonly RowAction[]>(() => [])

/** Loads the acting script, a separate one, once a recording is open or the list of recordings is shown. */
export function openDoor(): void {
  const door: PageDoor = {
    notice,
    rowFacts(row) {
      const kind = table.kind(row)
      const isRequest = kind === 'request'
      const isAnswer = kind === 'result' || kind === 'error'
      const peer = table.peer(row)
      return {
        lane: table.lane(row),
        request: isRequest ? row : isAnswer ? peer : -1,
        answer: isRequest ? peer : isAnswer ? row : -1,
      }
    },
    detail: (row) => reader().detail(row, true),
    offers: () => reader().call('offers', []),
    home,
    openListed,
    rowActions,
    fetch: fetchWiretape,
  }
  Object.assign(globalThis, { wiretapePage: door })
  let asked = false
  effect(() => {
    if (asked || (lanes.value.length === 0 && home.value === null)) return
    asked = true
    const script = document.createElement('script')
    script.src = './acting.js'
    document.head.append(script)
  })
}
