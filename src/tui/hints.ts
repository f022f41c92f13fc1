import { keyLabel, keyTable, type Act } from './key-table.js'
import { selectedRow, type Context, type ScreenState } from './state.js'

/** A key and its action, for the last line of the screen. */
export type KeyHint = readonly [key: string, label: string]

/** The facts that decide which keys are offered. */
interface Situation {
  readonly state: ScreenState
  /** The capture still accepts commands. */
  readonly live: boolean
  readonly holds: boolean
  readonly heldCount: number
  /** The chosen message is held. */
  readonly held: boolean
  readonly isRequest: boolean
  /** The chosen row is a request that can be sent again, or belongs to one. */
  readonly repeatable: boolean
  readonly hasId: boolean
  readonly hasPeer: boolean
  readonly hasRow: boolean
  readonly hasText: boolean
  /** Findings of level error and warning. */
  readonly found: number
}

/** The keys of the last line, most useful first. An undefined label hides a key without effect. */
const hints: readonly (readonly [act: Act, label: (at: Situation) => string | false | undefined])[] = [
  ['forward', ({ held }) => held && 'forward'],
  ['drop', ({ held }) => held && 'drop'],
  ['edit', ({ held }) => held && 'edit'],
  ['answer', ({ held, isRequest }) => held && isRequest && 'answer'],
  ['next-held', ({ held, heldCount }) => !held && heldCount > 0 && 'next held'],
  ['intercept', ({ live, holds }) => live && (holds ? 'stop holding' : 'intercept')],
  ['back', ({ state }) => backLabel(state)],
  ['filter', () => 'filter'],
  ['findings', ({ found }) => found > 0 && 'findings'],
  ['last', ({ state, live }) => live && !state.follow && 'follow'],
  ['again', ({ live, repeatable }) => live && repeatable && 'again'],
  ['save', ({ live }) => live && 'save'],
  ['compose', ({ live }) => live && 'compose'],
  ['zoom', ({ state, hasRow }) => hasRow && (state.zoom ? 'list' : 'zoom')],
  ['reload', ({ live }) => live && 'reload'],
  ['note', ({ live, hasId }) => live && hasId && 'note'],
  ['forward-all', ({ live, heldCount }) => live && heldCount > 1 && 'forward all'],
  ['other-half', ({ hasPeer }) => hasPeer && 'response/request'],
  ['break', ({ live }) => live && 'break'],
  ['copy', ({ hasText }) => hasText && 'copy'],
  ['focus', ({ hasRow, state }) => hasRow && (state.focus === 'list' ? 'to message' : 'to list')],
]

/** Keys that have an effect now. Help and quit always have one; they come last. */
export function offeredKeys(state: ScreenState, context: Context): KeyHint[] {
  const at = situationOf(state, context)
  const offered = hints.flatMap(([act, label]): KeyHint[] => {
    const said = label(at)
    return said ? [[labelOf(act), said]] : []
  })
  return [...offered, [labelOf('help'), 'help'], [labelOf('quit'), 'quit']]
}

function situationOf(state: ScreenState, context: Context): Situation {
  const { log, saved } = context
  const chosen = selectedRow(state, context)
  const row = chosen === undefined ? undefined : log.row(chosen)
  const isAnswer = row?.kind === 'result' || row?.kind === 'error'
  const request = isAnswer ? log.row(row.peer) : row
  const live = !saved && (state.phase === 'live' || state.phase === 'loading')
  return {
    state,
    live,
    holds: state.gate?.hold === true,
    heldCount: log.heldCount,
    held: live && chosen !== undefined && log.heldOf(chosen) !== undefined,
    isRequest: row?.kind === 'request',
    repeatable:
      request?.kind === 'request' && request.state !== 'waiting' && log.idOf(request.row) !== undefined,
    hasId: chosen !== undefined && log.idOf(chosen) !== undefined,
    hasPeer: (row?.peer ?? -1) >= 0,
    hasRow: row !== undefined,
    found: log.found.counts.error + log.found.counts.warning,
    hasText: chosen !== undefined && log.textOf(chosen) !== undefined,
  }
}

function backLabel({ zoom, focus, again, filterText }: ScreenState): string | undefined {
  if (zoom || focus === 'detail') return undefined
  if (again) return 'close'
  return filterText === '' ? undefined : 'all rows'
}

function labelOf(act: Act): string {
  return keyLabel(keyTable.find((binding) => binding.act === act)!.keys[0]!)
}
