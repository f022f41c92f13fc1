import { makeSocketPath, startControl, type Control, type ControlHost } from '../control/index.js'
import type { GateState, HeldEvent } from '../control-schema/index.js'
import type { GatedWire, HeldMessage, Intercept, InterceptOptions } from '../intercept/index.js'
import { WiretapeError } from '../model/index.js'
import type { Recorder } from '../proxy/index.js'
import { createRulesInForce, type RulesInForce } from './rules-in-force.js'
import { segmentPath, type TapeEnd } from '../tape/index.js'
import type { InterceptModule, LoadedIntercept, LiveContext } from './live-context.js'

/** Creates a transport's wire, once there is a gate for it. */
export type MakeWire = (module: InterceptModule, intercept: Intercept, recorder: Recorder) => GatedWire

/** Functions of the running transport. */
export interface LiveTransport {
  readonly makeWire: MakeWire
  /** Ends the session, as SIGTERM would. */
  stop(): void
  /** URL for clients, over HTTP. */
  readonly url?: string
  /** Restarts its servers. @returns number of processes */
  reloadServers?(): Promise<number>
}

/** A capture as seen by attached programs. */
export interface Live {
  /** The transport is ready: holding begins. */
  connect(transport: LiveTransport): void
  /** Lets screens and scripts attach. Never rejects. */
  listen(): Promise<void>
  /** The tape has grown. */
  tapeGrew(end: TapeEnd | undefined): void
  /** Sends the client a message that does not come from its server. Never rejects. */
  say(text: string): Promise<void>
  readonly intercept: Intercept | undefined
  /** Why nothing is held, although requested. */
  readonly notHeld: string | undefined
  /** Why a changed file of rules is not in force. */
  readonly rulesFault: string | undefined
  /** The transport has ended; held messages can no longer be delivered. */
  over(): void
  /** The tape is closed. */
  finish(): Promise<void>
}

/** Options if none are requested. */
const idle = {
  hold: false,
  breakpoints: [],
  awaitScreen: false,
  order: 'exchange',
  holdTimeoutMs: undefined,
  onDetach: 'forward',
} as const satisfies InterceptOptions

/**
 * Loads the gate for a capture that holds or changes messages from its start.
 *
 * @param rulesFile absolute
 * @throws WiretapeError `usage` for an invalid filter or rules file
 */
export async function loadIntercept(
  options: InterceptOptions | undefined,
  rulesFile: string | undefined,
): Promise<LoadedIntercept> {
  const module = await import('../intercept/index.js')
  try {
    module.parseBreakpoints(options?.breakpoints ?? [])
  } catch (cause) {
    if (!(cause instanceof module.GateFault)) throw cause
    throw new WiretapeError('usage', `--break: ${cause.message}`, { hint: 'see docs/filter.md', cause })
  }
  const rules = createRulesInForce(module)
  if (rulesFile !== undefined) {
    const fault = await rules.take(rulesFile)
    if (fault !== undefined) throw new WiretapeError('usage', fault, { hint: 'see docs/rules.md' })
  }
  return { module, options: options ?? idle, rules }
}

/** A capture that programs can attach to. */
export class LiveCapture implements Live {
  readonly #context: LiveContext
  #control: Control | undefined
  #transport: LiveTransport | undefined
  #loading: Promise<Intercept> | undefined
  #intercept: Intercept | undefined
  #attendance = { screens: 0, onlookers: 0 }
  #telling = false
  #tapeEnd: TapeEnd | undefined
  #rules: RulesInForce | undefined
  #notHeld: string | undefined
  #rulesFault: string | undefined
  #unfollow = (): void => undefined
  readonly #host: ControlHost

  constructor(context: LiveContext) {
    this.#context = context
    if (context.intercept) this.#intercept = this.#create(context.intercept)
    this.#host = {
      hello: () => {
        const { meta, tape, sessionFile } = context
        const { version, session, transport: kind, url } = meta.wiretape!
        return {
          wiretape: version,
          session,
          label: meta.label,
          pid: process.pid,
          transport: kind,
          startedAt: meta.startedAt,
          command: [...meta.command],
          url,
          listening: this.#transport?.url ?? null,
          tape,
          sessionFile,
        }
      },
      hasNumbers: !context.isStrict,
      state: () => this.#state(),
      held: () => [...(this.#intercept?.held ?? [])].map(heldEvent),
      attended: (who) => {
        this.#attendance = who
        this.#intercept?.attended(who.screens)
        this.#stateChanged()
      },
      execute: async (command) => {
        const { executeCommand } = await import('./commands.js')
        return executeCommand(command, {
          context,
          gate: () => this.#gate(),
          stop: () => this.#transport?.stop(),
          reload: () => this.#transport?.reloadServers?.(),
          takeRules: (file) => this.#takeRules(file),
        })
      },
    }
  }

  get intercept(): Intercept | undefined {
    return this.#intercept
  }

  get notHeld(): string | undefined {
    return this.#notHeld
  }

  get rulesFault(): string | undefined {
    return this.#rulesFault
  }

  connect(given: LiveTransport): void {
    this.#transport = given
    this.#stateChanged()
    const loaded = this.#context.intercept
    if (loaded && this.#intercept) this.#connectTo(given.makeWire, loaded.module, this.#intercept)
  }

  async listen(): Promise<void> {
    const { meta, tape, registryFolder } = this.#context
    const path = makeSocketPath(meta.wiretape!.session, registryFolder)
    this.#control = await startControl(path, this.#host, {
      segmentPath: (segment) => segmentPath(tape, segment),
      end: () => this.#tapeEnd,
    })
    if (this.#control.path === undefined || !this.#context.listens(this.#control.path)) this.#holdNothing()
  }

  async say(text: string): Promise<void> {
    try {
      const { sender } = await this.#gate()
      await sender.inject('server_to_client', text, { conversation: undefined, keepAnswer: false })
    } catch (error) {
      this.#context.recorder().enter({ kind: 'note', text: `not sent to the client: ${String(error)}` })
    }
  }

  tapeGrew(end: TapeEnd | undefined): void {
    this.#tapeEnd = end
    this.#control?.tapeGrew()
  }

  over(): void {
    this.#rulesFault = this.#rules?.state?.fault
    this.#intercept?.close()
    this.#rules?.close()
    this.#context.intercept?.rules?.close()
    this.#transport = undefined
  }

  async finish(): Promise<void> {
    await this.#control?.finish()
  }

  #create({ module, options, rules: given, makeGuard }: LoadedIntercept): Intercept {
    this.#rules = given ?? createRulesInForce(module)
    const made = new module.Intercept(options, {
      held: (message) => this.#control?.announce({ event: heldEvent(message), to: 'screen' }),
      changed: ({ id, reason, moot }) => {
        const event = {
          type: 'held-changed' as const,
          message: id,
          reason,
          ...(moot !== undefined && { moot }),
        }
        this.#control?.announce({ event, to: 'screen' })
      },
      released: ({ id }, outcome, cause, text) => {
        const event = { type: 'released' as const, message: id, outcome, cause }
        this.#control?.announce({ event, to: 'onlooker' })
        this.#control?.announce({ event: { ...event, ...(text !== undefined && { text }) }, to: 'screen' })
      },
      stateChanged: () => this.#stateChanged(),
      notice: (message) => this.#announceNotice(message),
    })
    if (makeGuard)
      made.guard = makeGuard({
        transport: this.#context.meta.wiretape!.transport,
        isAttended: () => this.#attendance.screens > 0,
        tell: (text) => {
          this.#note(text)
          this.#announceNotice(text)
        },
      })
    this.#follow(this.#rules, made)
    return made
  }

  #follow(followed: RulesInForce, made: Intercept): void {
    this.#unfollow()
    this.#rules = followed
    made.rules = followed.current
    this.#unfollow = followed.onChange((notice) => {
      made.rules = followed.current
      this.#note(notice ?? rulesWords(followed.state))
      if (notice !== undefined) this.#announceNotice(notice)
      this.#stateChanged()
    })
  }

  #announceNotice(message: string): void {
    this.#control?.announce({ event: { type: 'notice', message }, to: 'all' })
  }

  /** Notes on the tape show which rules were in force when. */
  #note(text: string): void {
    if (this.#transport) this.#context.recorder().enter({ kind: 'note', text })
  }

  /** A run's rules are shared by all its captures; rules loaded by a screen apply to its own capture only. */
  async #takeRules(file: string | null): Promise<string | undefined> {
    const made = await this.#gate()
    const shared = this.#context.intercept?.rules
    if (this.#rules !== shared) return this.#rules!.take(file)
    const own = createRulesInForce(this.#context.intercept!.module)
    const fault = await own.take(file)
    if (fault !== undefined) own.close()
    else {
      // Rules of another screen, which were requested at the same time.
      if (this.#rules !== shared) this.#rules?.close()
      this.#follow(own, made)
      this.#note(rulesWords(own.state))
    }
    return fault
  }

  /** Announces simultaneous changes once. */
  #stateChanged(): void {
    if (this.#telling || !this.#control) return
    this.#telling = true
    setImmediate(() => {
      this.#telling = false
      this.#control?.announce({ event: { type: 'state', state: this.#state() }, to: 'all' })
    })
  }

  /** The gate. Captures without holding never load it. */
  async #gate(): Promise<Intercept> {
    return (this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    }))
  }

  #connectTo(makeWire: MakeWire, module: InterceptModule, gated: Intercept): void {
    const recorder = this.#context.recorder()
    gated.connect(makeWire(module, gated, recorder), () => recorder.openRequests())
  }

  async #load(): Promise<Intercept> {
    if (!this.#intercept) {
      const module = await import('../intercept/index.js')
      this.#intercept = this.#create({ module, options: idle })
      this.#intercept.attended(this.#attendance.screens)
      if (this.#transport) this.#connectTo(this.#transport.makeWire, module, this.#intercept)
    }
    return this.#intercept
  }

  #state(): GateState {
    const none = {
      hold: false,
      breakpoints: [],
      order: 'exchange',
      onDetach: 'forward',
      holdTimeoutMs: null,
    } as const
    return {
      ...(this.#intercept?.state ?? { ...none, breakpoints: [], awaitsScreen: false, held: 0 }),
      rules: this.#rules?.state ?? null,
      canReload: this.#transport?.reloadServers !== undefined,
      ...this.#attendance,
    }
  }

  /** Turns holding off, since no screen could ever release a message. */
  #holdNothing(): void {
    const { hold = false, awaitScreen = false } = this.#context.intercept?.options ?? {}
    if (!hold && !awaitScreen) return
    this.#notHeld = `no message was held: no screen could attach, because the capture could not be registered in ${this.#context.registryFolder}`
    this.#context.recorder().enter({ kind: 'note', text: this.#notHeld })
    this.#intercept?.hold(false)
  }
}

function rulesWords(state: GateState['rules']): string {
  if (!state) return 'rules are off from here on'
  const { file, count } = state
  return `rules in force from here on: ${count}, from ${file}`
}

function heldEvent(message: HeldMessage): HeldEvent {
  const { id, offer, reason, by, untilMs, moot, decision } = message
  const { direction, wallMs, conversation, exchange } = offer
  return {
    type: 'held',
    message: id,
    direction,
    text: decision.text ?? offer.text,
    t: new Date(wallMs).toISOString(),
    reason,
    ...(by !== undefined && { by }),
    ...(conversation !== '' && { conversation }),
    ...(exchange !== undefined && { exchange }),
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
    ...(moot !== undefined && { moot }),
  }
}
