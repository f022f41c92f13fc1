import { connectStdio } from '../link/index.js'
import { reasonNotFound } from '../transports/index.js'
import { answerSteps, initialize } from './handshake.js'
import { failed, note, ok, type Step } from './step.js'

export interface CommandCheck {
  readonly command: readonly string[]
  /** From the client's configuration, added to our own environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Deadline of the server's response. */
  readonly timeoutMs: number
}

/** The PATH that servers get from desktop programs. */
const desktopPath = '/usr/bin:/bin:/usr/sbin:/sbin'
/** Bytes of stderr kept to show. */
const keptStderr = 4_096

/** Starts a server as its client would; stops at the first failed step. */
export async function* checkCommand(check: CommandCheck): AsyncGenerator<Step> {
  const { command, env = {}, cwd } = check
  const variables = { ...process.env, ...env }
  const unset = [...new Set([...command, ...Object.values(env)].flatMap(placeholders))].filter(
    (name) => process.env[name] === undefined,
  )
  const missing = reasonNotFound(command, variables['PATH'])
  if (missing !== undefined) {
    yield failed(
      'command found',
      missing,
      `looked in PATH=${variables['PATH'] ?? ''}; install it, or use its absolute path`,
    )
    return
  }
  yield ok('command found', command[0]!)
  if (
    !command[0]!.includes('/') &&
    process.platform !== 'win32' &&
    reasonNotFound(command, desktopPath) !== undefined
  )
    yield note(
      'PATH',
      `${command[0]} is not in ${desktopPath}, which desktop clients use`,
      'use its absolute path in the client configuration',
    )
  if (unset.length > 0)
    yield failed(
      'environment set',
      `not set: ${unset.join(', ')}`,
      'set the variables where the client starts, or put their values into its configuration',
    )
  else
    yield ok(
      'environment set',
      Object.keys(env).length === 0 ? 'no variables needed' : Object.keys(env).join(', '),
    )
  if (unset.length > 0) return
  yield* talk(command, variables, cwd, check.timeoutMs)
}

async function* talk(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string | undefined,
  timeoutMs: number,
): AsyncGenerator<Step> {
  const heard = createInbox(timeoutMs)
  let stderr = ''
  const connection = await connectStdio(
    command,
    {
      message: (text) => heard.put({ text }),
      failed: (_frame, reason) => heard.put({ ended: reason }),
      ended: (reason) => heard.put({ ended: reason }),
      stderr: (bytes) => (stderr = (stderr + Buffer.from(bytes).toString('utf8')).slice(-keptStderr)),
    },
    { env, ...(cwd !== undefined && { cwd }) },
  )
  if ('error' in connection) {
    yield failed('process starts', connection.error, 'run the command in a terminal')
    return
  }
  try {
    yield ok('process starts', command.join(' '))
    const beganAt = performance.now()
    await connection.send({ text: JSON.stringify(initialize), method: 'initialize', requests: 1 })
    for (let isFirst = true; ; isFirst = false) {
      const next = await heard.take()
      const words = lastLines(stderr)
      if (next === undefined) {
        const said = isFirst ? 'nothing on stdout' : 'no response'
        const advice = words === '' ? 'does the server speak MCP on stdio?' : `its stderr ends with: ${words}`
        yield failed('initialize answered', `${said} within ${timeoutMs / 1000} s`, advice)
        return
      }
      if ('ended' in next) {
        const advice =
          words === ''
            ? 'the server wrote nothing to stderr; run the command in a terminal'
            : `its stderr ends with: ${words}`
        yield failed('initialize answered', next.ended, advice)
        return
      }
      const message = parse(next.text)
      if (message === undefined) {
        yield failed(
          'first line is JSON',
          JSON.stringify(next.text.slice(0, 120)),
          'stdout is for messages only: the server must log to stderr',
        )
        return
      }
      if (isFirst) yield ok('first line is JSON', 'yes')
      if ((message as { id?: unknown }).id !== initialize.id) continue
      yield* answerSteps(message, performance.now() - beganAt)
      return
    }
  } finally {
    await connection.close()
  }
}

type Heard = { readonly text: string } | { readonly ended: string }

/** Received items, in order, until the deadline. */
function createInbox(timeoutMs: number): { put(heard: Heard): void; take(): Promise<Heard | undefined> } {
  const waiting: Heard[] = []
  let wake: (() => void) | undefined
  const endsAt = performance.now() + timeoutMs
  return {
    put(heard) {
      if (waiting.length < 1_000) waiting.push(heard)
      wake?.()
    },
    async take() {
      while (waiting.length === 0) {
        const leftMs = endsAt - performance.now()
        if (leftMs <= 0) return undefined
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, leftMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return waiting.shift()
    },
  }
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' | ').slice(-400)
}

/** Variables that a client substitutes in its configuration: `${NAME}`, `${env:NAME}`, `{env:NAME}`. */
function placeholders(text: string): string[] {
  return [...text.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}|\{env:([A-Za-z_]\w*)\}/g)].map(
    (match) => match[1] ?? match[2]!,
  )
}
