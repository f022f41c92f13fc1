import { effect, type Signal } from '@preact/signals'
import { reader } from '../store/actions.js'
import { lane, lanes, notice, selected, table, version, type Notice } from '../store/state.js'
import type { Detail, Lane } from '../worker/protocol.js'
import type { OfferHistory } from '../worker/tools.js'
import { home, openListed, type Listed } from './landing.js'
import { fetchWiretape } from './token.js'

/** What a script beside this one, which only `wiretape ui` serves, gets of the page. */
export interface PageDoor {
  readonly lanes: Signal<readonly Lane[]>
  readonly lane: Signal<number | 'all'>
  readonly selected: Signal<number>
  readonly version: Signal<number>
  readonly notice: Signal<Notice | undefined>
  /** What a row is: the exchange's request of an answer. */
  rowFacts(row: number): { readonly lane: number; readonly request: number; readonly answer: number }
  detail(row: number): Promise<Detail>
  /** What the servers of the open recordings offered. */
  offers(): Promise<readonly OfferHistory[]>
  /** Where the list of recordings is drawn, while no recording is open. */
  readonly home: Signal<HTMLElement | null>
  /** Opens recordings of the list. */
  openListed(recordings: readonly Listed[]): Promise<void>
  /** With the token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** Lets in the script that acts, once a recording is open or the list of recordings is shown. It is no part of this one. */
export function openDoor(): void {
  const door: PageDoor = {
    lanes,
    lane,
    selected,
    version,
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
