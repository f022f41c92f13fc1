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

export function createLive(context: LiveContext): Live {
  let control: Control | undefined
  let transport: LiveTransport | undefined
  let loading: Promise<Intercept> | undefined
  let intercept: Intercept | undefined
  let attendance = { screens: 0, onlookers: 0 }
  let telling = false
  let tapeEnd: TapeEnd | undefined
  let rules: RulesInForce | undefined
  let notHeld: string | undefined
  let rulesFault: string | undefined
  let unfollow = (): void => undefined

  if (context.intercept) intercept = create(context.intercept)

  function create({ module, options, rules: given, makeGuard }: LoadedIntercept): Intercept {
    rules = given ?? createRulesInForce(module)
    const made = new module.Intercept(options, {
      held: (message) => control?.announce({ event: heldEvent(message), to: 'screen' }),
      changed({ id, reason, moot }) {
        const event = {
          type: 'held-changed' as const,
          message: id,
          reason,
          ...(moot !== undefined && { moot }),
        }
        control?.announce({ event, to: 'screen' })
      },
      released({ id }, outcome, cause, text) {
        const event = { type: 'released' as const, message: id, outcome, cause }
        control?.announce({ event, to: 'onlooker' })
        control?.announce({ event: { ...event, ...(text !== undefined && { text }) }, to: 'screen' })
      },
      stateChanged,
      notice: announceNotice,
    })
    if (makeGuard)
      made.guard = makeGuard({
        transport: context.meta.wiretape!.transport,
        isAttended: () => attendance.screens > 0,
        tell(text) {
          note(text)
          announceNotice(text)
        },
      })
    follow(rules, made)
    return made
  }

  function follow(followed: RulesInForce, made: Intercept): void {
    unfollow()
    rules = followed
    made.rules = followed.current
    unfollow = followed.onChange((notice) => {
      made.rules = followed.current
      note(notice ?? rulesWords(followed.state))
      if (notice !== undefined) announceNotice(notice)
      stateChanged()
    })
  }

  function announceNotice(message: string): void {
    control?.announce({ event: { type: 'notice', message }, to: 'all' })
  }

  /** Notes on the tape show which rules were in force when. */
  function note(text: string): void {
    if (transport) context.recorder().enter({ kind: 'note', text })
  }

  /** A run's rules are shared by all its captures; rules loaded by a screen apply to its own capture only. */
  async function takeRules(file: string | null): Promise<string | undefined> {
    const made = await gate()
    const shared = context.intercept?.rules
    if (rules !== shared) return rules!.take(file)
    const own = createRulesInForce(context.intercept!.module)
    const fault = await own.take(file)
    if (fault !== undefined) own.close()
    else {
      // Rules of another screen, which were requested at the same time.
      if (rules !== shared) rules?.close()
      follow(own, made)
      note(rulesWords(own.state))
    }
    return fault
  }

  /** Announces simultaneous changes once. */
  function stateChanged(): void {
    if (telling || !control) return
    telling = true
    setImmediate(() => {
      telling = false
      control?.announce({ event: { type: 'state', state: state() }, to: 'all' })
    })
  }

  /** The gate. Captures without holding never load it. */
  async function gate(): Promise<Intercept> {
    return (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
  }

  function connectTo(makeWire: MakeWire, module: InterceptModule, gated: Intercept): void {
    const recorder = context.recorder()
    gated.connect(makeWire(module, gated, recorder), () => recorder.openRequests())
  }

  async function load(): Promise<Intercept> {
    if (!intercept) {
      const module = await import('../intercept/index.js')
      intercept = create({ module, options: idle })
      intercept.attended(attendance.screens)
      if (transport) connectTo(transport.makeWire, module, intercept)
    }
    return intercept
  }

  function state(): GateState {
    const none = {
      hold: false,
      breakpoints: [],
      order: 'exchange',
      onDetach: 'forward',
      holdTimeoutMs: null,
    } as const
    return {
      ...(intercept?.state ?? { ...none, breakpoints: [], awaitsScreen: false, held: 0 }),
      rules: rules?.state ?? null,
      ...attendance,
    }
  }

  const host: ControlHost = {
    hello() {
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
        listening: transport?.url ?? null,
        tape,
        sessionFile,
      }
    },
    hasNumbers: !context.isStrict,
    state,
    held: () => [...(intercept?.held ?? [])].map(heldEvent),
    attended(who) {
      attendance = who
      intercept?.attended(who.screens)
      stateChanged()
    },
    async execute(command) {
      const { executeCommand } = await import('./commands.js')
      return executeCommand(command, {
        context,
        gate,
        stop: () => transport?.stop(),
        reload: () => transport?.reloadServers?.(),
        takeRules,
      })
    },
  }

  /** Turns holding off, since no screen could ever release a message. */
  function holdNothing(): void {
    const { hold = false, awaitScreen = false } = context.intercept?.options ?? {}
    if (!hold && !awaitScreen) return
    notHeld = `no message was held: no screen could attach, because the capture could not be registered in ${context.registryFolder}`
    context.recorder().enter({ kind: 'note', text: notHeld })
    intercept?.hold(false)
  }

  return {
    get intercept() {
      return intercept
    },
    get notHeld() {
      return notHeld
    },
    get rulesFault() {
      return rulesFault
    },
    connect(given) {
      transport = given
      const loaded = context.intercept
      if (loaded && intercept) connectTo(given.makeWire, loaded.module, intercept)
    },
    async listen() {
      const { meta, tape, registryFolder } = context
      const path = makeSocketPath(meta.wiretape!.session, registryFolder)
      control = await startControl(path, host, {
        segmentPath: (segment) => segmentPath(tape, segment),
        end: () => tapeEnd,
      })
      if (control.path === undefined || !context.listens(control.path)) holdNothing()
    },
    async say(text) {
      try {
        const { sender } = await gate()
        await sender.inject('server_to_client', text, { conversation: undefined, keepAnswer: false })
      } catch (error) {
        context.recorder().enter({ kind: 'note', text: `not sent to the client: ${String(error)}` })
      }
    },
    tapeGrew(end) {
      tapeEnd = end
      control?.tapeGrew()
    },
    over() {
      rulesFault = rules?.state?.fault
      intercept?.close()
      rules?.close()
      context.intercept?.rules?.close()
      transport = undefined
    },
    async finish() {
      await control?.finish()
    },
  }
}

function rulesWords(state: GateState['rules']): string {
  if (!state) return 'rules are off from here on'
  const { file, count } = state
  return `rules in force from here on: ${count}, from ${file}`
}

function heldEvent(message: HeldMessage): HeldEvent {
  const { id, offer, reason, by, untilMs, moot, text } = message
  const { direction, wallMs, conversation, exchange } = offer
  return {
    type: 'held',
    message: id,
    direction,
    text: text ?? offer.text,
    t: new Date(wallMs).toISOString(),
    reason,
    ...(by !== undefined && { by }),
    ...(conversation !== '' && { conversation }),
    ...(exchange !== undefined && { exchange }),
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
    ...(moot !== undefined && { moot }),
  }
}
