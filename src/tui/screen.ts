import type { Failure, ServerEvent } from '../control-schema/index.js'
import { openCanvas, type Canvas } from './canvas.js'
import { frameOf } from './frame.js'
import type { Frame } from './frame-lines.js'
import type { CaptureLink } from './link.js'
import { MessageLog } from './message-log.js'
import { reduce } from './reduce.js'
import { RowView } from './row-view.js'
import { asciiSigns, unicodeSigns } from './row-line.js'
import { initialState, type Action, type Context, type Effect, type ScreenState } from './state.js'
import { Terminal } from './terminal.js'
import type { ReadStream, WriteStream } from 'node:tty'

export interface ScreenOptions {
  readonly link: CaptureLink
  /** This screen started the capture: leaving it saves and ends the capture. */
  readonly owner: boolean
  /** The screen shows finished recordings: no messages arrive, and none can be sent. */
  readonly saved?: boolean
  readonly colours: boolean
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Leaves the screen. A screen that owns the capture leaves only after the capture's end. */
  readonly signal?: AbortSignal
}

/** How the screen was left. */
export interface ScreenEnd {
  /** `left`: by its user; `ended`: the capture ended; `lost`: the connection was lost. */
  readonly reason: 'left' | 'ended' | 'lost'
  readonly messages: number
  /** Folder with the unsaved text of an editor that was open at the end. */
  readonly kept?: string
}

/** Minimum time between two redraws while messages arrive. */
const pictureMs = 50
/** Maximum time of one step of filtering. */
const lookMs = 10

/** Shows a capture until its user leaves. Restores the terminal. */
export async function runScreen(options: ScreenOptions): Promise<ScreenEnd> {
  const { link, owner, saved = false, colours, stdin, stdout, signal } = options
  const log = new MessageLog(link.hello.transport)
  const view = new RowView(log)
  const context: Context = { hello: link.hello, log, view, owner, saved }
  const signs = speaksUtf8(process.env) ? unicodeSigns : asciiSigns
  const terminal = new Terminal(stdin, stdout)
  let state: ScreenState = { ...initialState(terminal.columns, terminal.rows), follow: !saved }
  const changed: number[] = []
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Immediate | undefined
  /** The row chosen when the filter was started. */
  let filterRow: number | undefined
  let gone = false
  let editing: Promise<string | undefined> | undefined
  let leave: (() => void) | undefined
  let broke: ((error: unknown) => void) | undefined
  const left = new Promise<void>((resolve, reject) => {
    leave = resolve
    broke = reject
  })
  // It may reject before it is awaited.
  left.catch(() => undefined)
  let canvas: Canvas | undefined
  begin()

  function begin(): void {
    canvas?.close()
    canvas = openCanvas(stdout, colours, (error) => broke?.(error))
    canvas.draw(picture)
  }
  function end(): void {
    canvas?.close()
    canvas = undefined
  }
  /** Keys act on `state`: the screen must show no row that `state` does not know yet. */
  function picture(): Frame {
    takeRows()
    return frameOf(state, context, signs)
  }

  /** A bug of ours ends the screen, not the capture. */
  function dispatch(action: Action): void {
    try {
      const step = reduce(state, action, context)
      state = step.state
      for (const effect of step.effects) run(effect)
      canvas?.draw(picture)
    } catch (error) {
      broke?.(error)
    }
  }

  /** Filters in steps, so that this process can go on recording. */
  function lookOn(): void {
    clearImmediate(looking)
    if (gone) return
    try {
      if (view.lookOn(lookMs)) return dispatch({ type: 'filtered', row: filterRow })
    } catch (error) {
      return broke?.(error)
    }
    looking = setImmediate(lookOn)
  }

  /** Rows arrive by the thousand, so they are drawn together. */
  function rowsCame(rows: readonly number[]): void {
    changed.push(...rows)
    timer ??= setTimeout(() => {
      try {
        takeRows()
      } catch (error) {
        return broke?.(error)
      }
      canvas?.draw(picture)
    }, pictureMs)
  }
  function takeRows(): void {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    view.update(changed.splice(0))
    state = reduce(state, { type: 'rows' }, context).state
  }

  function onEvent(event: ServerEvent): void {
    switch (event.type) {
      case 'record':
        return rowsCame(log.line(event.line))
      case 'held':
        return rowsCame(log.hold(event))
      case 'held-changed':
        log.changeHeld(event)
        return rowsCame([])
      case 'released':
        rowsCame(log.release(event.message, event.outcome))
        return dispatch({ type: 'released', message: event.message, outcome: event.outcome })
      case 'state':
        return dispatch({ type: 'gate', gate: event.state })
      case 'live':
        rowsCame(log.settled())
        return dispatch({ type: 'phase', phase: 'live' })
      case 'gap':
        rowsCame(log.gap())
        return dispatch({
          type: 'notice',
          notice: { text: gapWords(event.lines), tone: 'bad' },
        })
      case 'notice':
        return dispatch({ type: 'notice', notice: { text: event.message, tone: 'plain' } })
      case 'ended':
        rowsCame(log.releaseAll())
        dispatch({ type: 'phase', phase: 'ended' })
        if (signal?.aborted) return leave?.()
        if (saved) return undefined
        return dispatch({
          type: 'notice',
          notice: { text: 'the capture has ended: press q to leave', tone: 'plain' },
        })
      default:
        return undefined
    }
  }

  async function follow(): Promise<void> {
    for await (const event of link.events) onEvent(event)
    if (state.phase === 'ended' || gone) return
    rowsCame(log.releaseAll())
    dispatch({ type: 'phase', phase: 'lost' })
    if (signal?.aborted) return leave?.()
    const text = 'the connection to the capture is lost; its tape has the recording: press q to leave'
    dispatch({ type: 'notice', notice: { text, tone: 'bad' } })
  }

  function run(effect: Effect): void {
    switch (effect.kind) {
      case 'command': {
        const { kind: _, command, ...whose } = effect
        link.send(command).then(
          (result) => dispatch({ type: 'done', ...whose, result }),
          (error: unknown) => dispatch({ type: 'failed', ...whose, ...wordsOf(error) }),
        )
        return
      }
      case 'filter': {
        filterRow = effect.row ?? view.at(state.cursor)
        view.setFilter(effect.filter)
        return lookOn()
      }
      case 'copy':
        if (!terminal.copy(effect.text)) {
          state = { ...state, notice: { text: 'too long to copy (e opens it in $EDITOR)', tone: 'bad' } }
        }
        return
      case 'external':
        editing = openEditor(effect.text).catch((error: unknown) => {
          broke?.(error)
          return undefined
        })
        return
      case 'quit':
        leave?.()
    }
  }

  /** Returns the folder with text that would be lost with the screen. */
  async function openEditor(text: string): Promise<string | undefined> {
    end()
    const outcome = await terminal.edit(text)
    if (gone) return 'kept' in outcome ? outcome.kept : undefined
    begin()
    if ('fault' in outcome) dispatch({ type: 'notice', notice: { text: outcome.fault, tone: 'bad' } })
    else dispatch({ type: 'edited', text: outcome.text })
    return undefined
  }

  function told(): void {
    // The end of the capture decides about held messages, not the end of its screen.
    if (!owner || state.phase === 'ended' || state.phase === 'lost') leave?.()
  }

  terminal.onKey((key) => dispatch({ type: 'key', key }))
  terminal.onGone(() => {
    end()
    // Same as a signal to stop the process: nothing else can end it from here.
    if (owner && state.phase !== 'ended') link.send({ type: 'stop' }).catch(() => undefined)
    leave?.()
  })
  terminal.onResize(() => dispatch({ type: 'resize', columns: terminal.columns, rows: terminal.rows }))
  terminal.onBack(begin)
  signal?.addEventListener('abort', told)
  if (signal?.aborted) told()
  const followed = follow().catch((error: unknown) => broke?.(error))
  try {
    await link.send({ type: 'subscribe' })
    await left
  } finally {
    gone = true
    clearTimeout(timer)
    clearImmediate(looking)
    end()
    signal?.removeEventListener('abort', told)
    terminal.close()
    link.close()
    await followed
    log.close()
  }
  const reason = endOf(state.phase)
  const kept = await editing
  return { reason, messages: log.length, ...(kept !== undefined && { kept }) }
}

function gapWords(lines: number | undefined): string {
  return lines === undefined
    ? 'older segments of the tape were deleted before this screen read them'
    : `${lines} lines are not shown here; the tape has them`
}

function endOf(phase: ScreenState['phase']): ScreenEnd['reason'] {
  return phase === 'ended' || phase === 'lost' ? phase : 'left'
}

function wordsOf(error: unknown): { message: string; code?: string } {
  if (!(error instanceof Error)) return { message: String(error) }
  if (!isRefusal(error)) return { message: error.message }
  const { code, message, hint } = error.failure
  return { message: hint === undefined ? message : `${message} (${hint})`, code }
}

function isRefusal(error: Error): error is Error & { readonly failure: Failure } {
  return 'failure' in error
}

/** POSIX: the first of these that is set decides. */
function speaksUtf8(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'win32') return true
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale) && env['TERM'] !== 'linux'
}
