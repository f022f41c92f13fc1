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
  return new Screen(options).show()
}

class Screen {
  readonly #link: CaptureLink
  readonly #owner: boolean
  readonly #saved: boolean
  readonly #colours: boolean
  readonly #stdout: WriteStream
  readonly #signal: AbortSignal | undefined
  readonly #log: MessageLog
  readonly #view: RowView
  readonly #context: Context
  readonly #signs = speaksUtf8(process.env) ? unicodeSigns : asciiSigns
  readonly #terminal: Terminal
  #state: ScreenState
  readonly #changed: number[] = []
  #timer: NodeJS.Timeout | undefined
  #looking: NodeJS.Immediate | undefined
  /** The row chosen when the filter was started. */
  #filterRow: number | undefined
  #gone = false
  #editing: Promise<string | undefined> | undefined
  #leave: (() => void) | undefined
  #broke: ((error: unknown) => void) | undefined
  readonly #left: Promise<void>
  #canvas: Canvas | undefined
  /** Keys act on `state`: the screen must show no row that `state` does not know yet. */
  readonly #picture = (): Frame => {
    this.#takeRows()
    return frameOf(this.#state, this.#context, this.#signs)
  }

  readonly #told = (): void => {
    // The end of the capture decides about held messages, not the end of its screen.
    if (!this.#owner || this.#state.phase === 'ended' || this.#state.phase === 'lost') this.#leave?.()
  }

  constructor({ link, owner, saved = false, colours, stdin, stdout, signal }: ScreenOptions) {
    this.#link = link
    this.#owner = owner
    this.#saved = saved
    this.#colours = colours
    this.#stdout = stdout
    this.#signal = signal
    this.#log = new MessageLog(link.hello.transport)
    this.#view = new RowView(this.#log)
    this.#context = { hello: link.hello, log: this.#log, view: this.#view, owner, saved }
    this.#terminal = new Terminal(stdin, stdout)
    this.#state = { ...initialState(this.#terminal.columns, this.#terminal.rows), follow: !saved }
    this.#left = new Promise<void>((resolve, reject) => {
      this.#leave = resolve
      this.#broke = reject
    })
    // The promise may reject before anything awaits it.
    this.#left.catch(() => undefined)
  }

  async show(): Promise<ScreenEnd> {
    this.#begin()
    this.#terminal.onKey((key) => this.#dispatch({ type: 'key', key }))
    this.#terminal.onGone(() => {
      this.#end()
      // Same as a signal to stop the process: nothing else can end it from here.
      if (this.#owner && this.#state.phase !== 'ended')
        this.#link.send({ type: 'stop' }).catch(() => undefined)
      this.#leave?.()
    })
    this.#terminal.onResize(() =>
      this.#dispatch({ type: 'resize', columns: this.#terminal.columns, rows: this.#terminal.rows }),
    )
    this.#terminal.onBack(() => this.#begin())
    this.#signal?.addEventListener('abort', this.#told)
    if (this.#signal?.aborted) this.#told()
    const followed = this.#follow().catch((error: unknown) => this.#broke?.(error))
    try {
      await this.#link.send({ type: 'subscribe' })
      await this.#left
    } finally {
      this.#gone = true
      clearTimeout(this.#timer)
      clearImmediate(this.#looking)
      this.#end()
      this.#signal?.removeEventListener('abort', this.#told)
      this.#terminal.close()
      this.#link.close()
      await followed
      this.#log.close()
    }
    const reason = endOf(this.#state.phase)
    const kept = await this.#editing
    return { reason, messages: this.#log.length, ...(kept !== undefined && { kept }) }
  }

  #begin(): void {
    this.#canvas?.close()
    this.#canvas = openCanvas(this.#stdout, this.#colours, (error) => this.#broke?.(error))
    this.#canvas.draw(this.#picture)
  }

  #end(): void {
    this.#canvas?.close()
    this.#canvas = undefined
  }

  /** A bug of ours ends the screen, not the capture. */
  #dispatch(action: Action): void {
    try {
      const step = reduce(this.#state, action, this.#context)
      this.#state = step.state
      for (const effect of step.effects) this.#run(effect)
      this.#canvas?.draw(this.#picture)
    } catch (error) {
      this.#broke?.(error)
    }
  }

  /** Filters in steps, so that this process can go on recording. */
  #lookOn(): void {
    clearImmediate(this.#looking)
    if (this.#gone) return
    try {
      if (this.#view.lookOn(lookMs)) return this.#dispatch({ type: 'filtered', row: this.#filterRow })
    } catch (error) {
      return this.#broke?.(error)
    }
    this.#looking = setImmediate(() => this.#lookOn())
  }

  /** Rows arrive by the thousand, so they are drawn together. */
  #rowsCame(rows: readonly number[]): void {
    this.#changed.push(...rows)
    this.#timer ??= setTimeout(() => {
      try {
        this.#takeRows()
      } catch (error) {
        return this.#broke?.(error)
      }
      this.#canvas?.draw(this.#picture)
    }, pictureMs)
  }

  #takeRows(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#view.update(this.#changed.splice(0))
    this.#state = reduce(this.#state, { type: 'rows' }, this.#context).state
  }

  #onEvent(event: ServerEvent): void {
    switch (event.type) {
      case 'record':
        return this.#rowsCame(this.#log.line(event.line))
      case 'held':
        return this.#rowsCame(this.#log.hold(event))
      case 'held-changed':
        this.#log.changeHeld(event)
        return this.#rowsCame([])
      case 'released':
        this.#rowsCame(this.#log.release(event.message, event.outcome))
        return this.#dispatch({ type: 'released', message: event.message, outcome: event.outcome })
      case 'state':
        return this.#dispatch({ type: 'gate', gate: event.state })
      case 'live':
        this.#rowsCame(this.#log.settled())
        return this.#dispatch({ type: 'phase', phase: 'live' })
      case 'gap':
        this.#rowsCame(this.#log.gap())
        return this.#notice(gapWords(event.lines), 'bad')
      case 'notice':
        return this.#notice(event.message, 'plain')
      case 'ended':
        this.#rowsCame(this.#log.releaseAll())
        this.#dispatch({ type: 'phase', phase: 'ended' })
        if (this.#signal?.aborted) return this.#leave?.()
        if (this.#saved) return undefined
        return this.#notice('the capture has ended: press q to leave', 'plain')
      default:
        return undefined
    }
  }

  async #follow(): Promise<void> {
    for await (const event of this.#link.events) this.#onEvent(event)
    if (this.#state.phase === 'ended' || this.#gone) return
    this.#rowsCame(this.#log.releaseAll())
    this.#dispatch({ type: 'phase', phase: 'lost' })
    if (this.#signal?.aborted) return this.#leave?.()
    const text = 'the connection to the capture is lost; its tape has the recording: press q to leave'
    this.#notice(text, 'bad')
  }

  #notice(text: string, tone: 'bad' | 'plain'): void {
    this.#dispatch({ type: 'notice', notice: { text, tone } })
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case 'command': {
        const { kind: _, command, ...whose } = effect
        this.#link.send(command).then(
          (result) => this.#dispatch({ type: 'done', ...whose, result }),
          (error: unknown) => this.#dispatch({ type: 'failed', ...whose, ...wordsOf(error) }),
        )
        return
      }
      case 'filter': {
        this.#filterRow = effect.row ?? this.#view.at(this.#state.cursor)
        this.#view.setFilter(effect.filter)
        return this.#lookOn()
      }
      case 'copy':
        if (!this.#terminal.copy(effect.text)) {
          this.#state = {
            ...this.#state,
            notice: { text: 'too long to copy (e opens it in $EDITOR)', tone: 'bad' },
          }
        }
        return
      case 'external':
        this.#editing = this.#openEditor(effect.text).catch((error: unknown) => {
          this.#broke?.(error)
          return undefined
        })
        return
      case 'quit':
        this.#leave?.()
    }
  }

  /** Returns the folder with text that would be lost with the screen. */
  async #openEditor(text: string): Promise<string | undefined> {
    this.#end()
    const outcome = await this.#terminal.edit(text)
    if (this.#gone) return 'kept' in outcome ? outcome.kept : undefined
    this.#begin()
    if ('fault' in outcome) this.#notice(outcome.fault, 'bad')
    else this.#dispatch({ type: 'edited', text: outcome.text })
    return undefined
  }
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
