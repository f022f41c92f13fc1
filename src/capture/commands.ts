import { isAbsolute } from 'node:path'
import { Refusal } from '../control/index.js'
import type { Command, CommandOf, Success } from '../control-schema/index.js'
import { GateFault, type Intercept } from '../intercept/index.js'
import { isFrameRecord, WiretapeError, type Direction } from '../model/index.js'
import { segmentsOf, snapshotTape } from '../tape/index.js'
import type { LiveContext } from './live-context.js'

/** The objects that commands act on. */
export interface CommandScene {
  readonly context: LiveContext
  readonly gate: () => Promise<Intercept>
  readonly stop: () => void
  /** Undefined where no server can be restarted. */
  readonly reload: () => Promise<number> | undefined
  /** Returns why not. */
  readonly takeRules: (file: string | null) => Promise<string | undefined>
}

/**
 * Carries out a command of a screen.
 *
 * @throws Refusal
 */
export async function executeCommand(
  command: Exclude<Command, { type: 'subscribe' }>,
  scene: CommandScene,
): Promise<Success> {
  try {
    return await execute(command, scene)
  } catch (error) {
    throw refusalOf(error, scene.context.tape)
  }
}

/** Also covers a tape that cannot be read, such as one moved away. Errors of other kinds are returned unchanged. */
function refusalOf(error: unknown, tape: string): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: error.hint } : {}
  const { message } = error
  if (error instanceof GateFault) return new Refusal({ code: error.code, message, ...hint })
  if (error instanceof WiretapeError || 'syscall' in error)
    return new Refusal({ code: 'file', message: `cannot read ${tape}: ${message}`, ...hint })
  return error
}

async function execute(
  command: Exclude<Command, { type: 'subscribe' }>,
  scene: CommandScene,
): Promise<Success> {
  const { context, gate, stop } = scene
  switch (command.type) {
    case 'hold':
      ;(await informed(gate)).hold(command.on)
      return {}
    case 'breakpoints':
      ;(await informed(gate)).setBreakpoints(command.filters)
      return {}
    case 'forward':
      ;(await gate()).forward(command.message)
      return {}
    case 'forward-all':
      return { count: (await gate()).forwardAll() }
    case 'edit':
      ;(await gate()).edit(command.message, command.text)
      return {}
    case 'drop':
      ;(await gate()).drop(command.message)
      return {}
    case 'answer':
      ;(await gate()).answer(command.message, command)
      return {}
    case 'inject': {
      const { direction, text, conversation, answer = 'keep' } = command
      const keepAnswer = answer === 'keep'
      return reserved(gate, ({ sender }) => sender.inject(direction, text, { conversation, keepAnswer }))
    }
    case 'replay':
      // A new id clashes with no pending request.
      return reserved(
        gate,
        (intercept) => replay(command, context, intercept),
        command.requestId !== undefined,
      )
    case 'rules':
      return setRules(command, scene)
    case 'save':
      return save(command, context)
    case 'annotate':
      return annotate(command, context)
    case 'reload':
      return { count: await reloaded(scene) }
    case 'stop':
      // After the reply.
      setImmediate(stop)
      return {}
  }
}

async function setRules({ file }: CommandOf<'rules'>, { gate, takeRules }: CommandScene): Promise<Success> {
  if (file !== null && !isAbsolute(file)) {
    throw new GateFault('invalid', 'the path of a rules file must be absolute')
  }
  await informed(gate)
  const fault = await takeRules(file)
  if (fault !== undefined) throw new GateFault('file', fault)
  return {}
}

async function save({ path: asked }: CommandOf<'save'>, context: LiveContext): Promise<Success> {
  const path = asked ?? context.sessionFile
  if (!isAbsolute(path)) throw new GateFault('invalid', 'the path of a session file must be absolute')
  await written(context)
  const trouble = await context.save(path)
  if (trouble !== undefined) throw new GateFault('file', trouble)
  return { path }
}

async function annotate({ text, message }: CommandOf<'annotate'>, context: LiveContext): Promise<Success> {
  if (context.isStrict) throw new GateFault('invalid', 'a --strict-v1 tape cannot hold notes')
  if (message !== undefined && !(await findMessage(message, context))) throw notFound()
  context.recorder().enter({ kind: 'note', text, ...(message !== undefined && { about: message }) })
  return {}
}

async function reloaded({ reload }: CommandScene): Promise<number> {
  const reloading = reload()
  if (!reloading)
    throw new GateFault(
      'invalid',
      'this capture cannot restart its server',
      'record it with --reloadable or --watch GLOB',
    )
  try {
    return await reloading
  } catch (error) {
    throw new GateFault('no-peer', error instanceof Error ? error.message : String(error))
  }
}

/** Sends one more message of our own, within the limit on their number. */
async function reserved<T>(
  gate: () => Promise<Intercept>,
  send: (intercept: Intercept) => Promise<T>,
  isInformed = true,
): Promise<T> {
  const release = (await gate()).sender.reserve()
  try {
    return await send(isInformed ? await informed(gate) : await gate())
  } finally {
    release()
  }
}

/** The gate, once it knows the requests made before it was created. */
async function informed(gate: () => Promise<Intercept>): Promise<Intercept> {
  const intercept = await gate()
  await intercept.catchUp()
  return intercept
}

async function replay(
  { message, text, requestId }: CommandOf<'replay'>,
  context: LiveContext,
  gate: Intercept,
): Promise<Success> {
  if (context.isStrict) {
    throw new GateFault('invalid', 'messages on a --strict-v1 tape have no ids', 'use `inject`')
  }
  const found = await findMessage(message, context)
  if (!found) throw notFound()
  if (text === undefined && found.redacted) {
    throw new GateFault(
      'redacted',
      'the recorded message has redacted values',
      'send the full message in `text`',
    )
  }
  const { direction, raw, arrived, conversation, headers } = found
  const like = { text: arrived, headers }
  return gate.sender.replay(direction, text ?? raw, { conversation, like, requestId })
}

function notFound(): Refusal {
  return new Refusal({ code: 'not-found', message: 'the tape has no such message' })
}

interface Found {
  readonly direction: Direction
  readonly raw: string
  /** The message before any edit: the one that its headers describe. */
  readonly arrived: string
  readonly redacted: boolean
  readonly conversation: string | undefined
  /** Names and values alternate. */
  readonly headers: readonly string[]
}

/** Waits until all traffic is on the tape: a caller notified by the gate, or by a peer, may be ahead of the disk. */
async function written(context: LiveContext): Promise<void> {
  await context.recorder().openRequests()
}

/** The message as forwarded; as received, if it was dropped or is still held. */
async function findMessage(id: string, context: LiveContext): Promise<Found | undefined> {
  let held: Found | undefined
  await written(context)
  const recording = await snapshotTape(segmentsOf(context.tape))
  for await (const record of recording.records()) {
    if (!isFrameRecord(record)) continue
    const part = record.parts.find((one) => one.id === id)
    if (!part) continue
    const { direction, raw, red, conversation, http } = record
    const original = record.type === 'message' ? record.original : undefined
    const said = { raw: raw.slice(part.start, part.end), redacted: red !== undefined }
    const arrived = (!record.batch && original) || said.raw
    const found = { direction, ...said, arrived, conversation, headers: (http?.headers ?? []).flat() }
    if (record.type === 'message') return found
    held = found
  }
  return held
}
