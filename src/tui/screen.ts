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
import { openTerminal } from './terminal.js'
import type { ReadStream, WriteStream } from 'node:tty'

export interface ScreenOptions {
  readonly link: CaptureLink
  /** This screen began the capture: leaving it saves and ends it. */
  readonly owner: boolean
  /** It shows recordings that were made: nothing comes after them, and nothing can be sent. */
  readonly saved?: boolean
  readonly colours: boolean
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Leaves the screen; the one that owns the capture as soon as that is over. */
  readonly signal?: AbortSignal
}

/** How a screen was left. */
export interface ScreenEnd {
  /** `left`: by its user; `ended`: the capture was over; `lost`: it went away without a word. */
  readonly reason: 'left' | 'ended' | 'lost'
  readonly messages: number
  /** The folder with what was typed in an editor that was open at the end. */
  readonly kept?: string
}

/** Pictures a second, at most, while messages come. */
const pictureMs = 50
/** A filter looks at rows no longer than this at a time. */
const lookMs = 10

/** Shows a capture until its user leaves. The terminal is given back as it was. */
export async function runScreen(options: ScreenOptions): Promise<ScreenEnd> {
  const { link, owner, saved = false, colours, stdin, stdout, signal } = options
  const log = new MessageLog(link.hello.transport)
  const view = new RowView(log)
  const context: Context = { hello: link.hello, log, view, owner, saved }
  const signs = speaksUtf8(process.env) ? unicodeSigns : asciiSigns
  const terminal = openTerminal(stdin, stdout)
  let state: ScreenState = { ...initialState(terminal.columns, terminal.rows), follow: !saved }
  const changed: number[] = []
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Immediate | undefined
  /** Was chosen when a filter was begun with. */
  let filterRow: number | undefined
  let gone = false
  let editing: Promise<string | undefined> | undefined
  let leave: (() => void) | undefined
  let broke: ((error: unknown) => void) | undefined
  const left = new Promise<void>((resolve, reject) => {
    leave = resolve
    broke = reject
  })
  // It may break before anybody waits for that.
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
  /** Keys act on `state`: the screen shows no row that `state` does not know yet. */
  function picture(): Frame {
    takeRows()
    return frameOf(state, context, signs)
  }

  /** A fault of ours ends the screen, not what it shows. */
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

  /** What this process records goes on meanwhile. */
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

  /** Rows come by the thousand: they are put on the screen together. */
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

  /** Returns where something is that would be lost with the screen. */
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
    // What is held is dealt with by the end of the capture, not by that of its screen.
    if (!owner || state.phase === 'ended' || state.phase === 'lost') leave?.()
  }

  terminal.onKey((key) => dispatch({ type: 'key', key }))
  terminal.onGone(() => {
    end()
    // As when its process is told to: nothing else can end it from here.
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

/** POSIX: the first of these that is set says it. */
function speaksUtf8(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'win32') return true
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale) && env['TERM'] !== 'linux'
}
