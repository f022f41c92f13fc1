/** Attaches to a running capture as any program can: over a socket with JSON lines, without wiretape's code. */
import { readdirSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { readIfThere, until, type Stage } from './stage.js'
import type { Line } from './tape-bytes.js'

/** A client that is attached to a capture. */
export interface Attached {
  readonly hello: Line
  /** All lines from the capture except replies. */
  readonly events: readonly Line[]
  /** Sends a command and resolves with its reply, successful or not. */
  ask(command: Line): Promise<Line>
  /** Sends a command that must succeed and resolves with its result. */
  tell(command: Line): Promise<Line>
  /** Waits for the n-th matching event. @default the first */
  event(what: string, fits: (event: Line) => boolean, n?: number): Promise<Line>
  /** Waits for the n-th held message. */
  held(n?: number): Promise<Line>
  records(): Line[]
  /** Stops reading. */
  sleep(): void
  wake(): void
  /** Number of bytes received. */
  readonly receivedBytes: number
  readonly closed: Promise<void>
  close(): void
}

/** Socket address of the stage's only capture. */
export function socketOf(stage: Stage): Promise<string> {
  const folder = join(stage.env['XDG_DATA_HOME']!, 'wiretape', 'live')
  return until('a capture listens', () => {
    for (const name of namesIn(folder)) {
      if (!name.endsWith('.json')) continue
      const entry = JSON.parse(readIfThere(join(folder, name)) || '{}') as Line
      if (typeof entry['socket'] === 'string') return entry['socket']
    }
    return undefined
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export interface AttachOptions {
  /** @default screen */
  readonly role?: 'screen' | 'onlooker'
  /** The `from` of `subscribe`; false for no subscription. @default everything */
  readonly from?: number | 'now' | false
}

export async function attach(
  stage: Stage,
  { role = 'screen', from = 0 }: AttachOptions = {},
): Promise<Attached> {
  const socket = net.connect(await socketOf(stage))
  socket.on('error', () => undefined)
  const events: Line[] = []
  const replies = new Map<number, (reply: Line) => void>()
  let hello: Line | undefined
  let rest = ''
  let receivedBytes = 0
  let next = 1
  socket.on('data', (chunk) => {
    receivedBytes += chunk.length
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const said = JSON.parse(line) as Line
      if (said['type'] === 'hello') hello = said
      else if (said['type'] === 'reply') replies.get(said['id'] as number)?.(said)
      else events.push(said)
    }
  })
  const closed = new Promise<void>((done) => socket.once('close', () => done()))
  const say = (line: Line): void => void socket.write(`${JSON.stringify(line)}\n`)
  const ask = (command: Line): Promise<Line> => {
    const id = next++
    say({ ...command, id })
    return Promise.race([
      new Promise<Line>((done) => replies.set(id, done)),
      closed.then(() => ({ ok: false, error: { code: 'closed' } })),
    ])
  }
  const attached: Attached = {
    get hello() {
      return hello!
    },
    get receivedBytes() {
      return receivedBytes
    },
    events,
    ask,
    async tell(command) {
      const reply = await ask(command)
      if (!reply['ok']) throw new Error(`${command['type']} failed: ${JSON.stringify(reply['error'])}`)
      return reply['result'] as Line
    },
    event: (what, fits, n = 1) => until(what, () => events.filter(fits)[n - 1]),
    held: (n = 1) => attached.event('a message is held', (event) => event['type'] === 'held', n),
    records: () => events.filter((event) => event['type'] === 'record').map((event) => event['line'] as Line),
    sleep: () => void socket.pause(),
    wake: () => void socket.resume(),
    closed,
    close: () => void socket.destroy(),
  }
  await until('the capture says hello', () => hello)
  say({ type: 'hello', protocol: 1, role, name: 'test' })
  if (from !== false) await attached.tell({ type: 'subscribe', from })
  return attached
}
