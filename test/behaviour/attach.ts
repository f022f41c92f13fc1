/** Attaches to a running capture as any program can: with a socket and JSON lines, none of our own code. */
import { readdirSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { readIfThere, until, type Stage } from './stage.js'
import type { Line } from './tape-bytes.js'

/** Somebody who is attached. */
export interface Attached {
  readonly hello: Line
  /** Everything the capture said so far, but replies. */
  readonly events: readonly Line[]
  /** Resolves with the reply, whatever it says. */
  ask(command: Line): Promise<Line>
  /** The same for a command that must succeed; gives the result. */
  tell(command: Line): Promise<Line>
  /** Waits for the n-th event that fits. @default the first */
  event(what: string, fits: (event: Line) => boolean, n?: number): Promise<Line>
  /** Waits for the n-th message that is held. */
  held(n?: number): Promise<Line>
  records(): Line[]
  /** Reads nothing more. */
  sleep(): void
  wake(): void
  /** Bytes that came. */
  readonly receivedBytes: number
  readonly closed: Promise<void>
  close(): void
}

/** Where the only capture of the stage can be attached to. */
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
  /** What `subscribe` says; false for no subscription. @default everything */
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
