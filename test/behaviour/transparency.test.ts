import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { readIfThere, server, type Ending, type Stage, useStage } from './stage.js'
import { bytesOfTape, linesOfTape } from './tape-bytes.js'

interface Conversation {
  readonly name: string
  /** The client's writes, in order. */
  readonly writes: readonly (string | Uint8Array)[]
  /** The stream to which the server sends everything it reads. @default stdout */
  readonly answersOn?: 'stdout' | 'stderr'
}

const binary = Uint8Array.from({ length: 1024 }, (_, i) => (i * 7) % 256)
const request =
  '{"jsonrpc": "2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0}}}'
const emoji = Buffer.from('{"jsonrpc":"2.0","method":"n","params":{"text":"é – 🎞 – 漢字"}}\n')
const hugeBytes = isLong ? 20_000_000 : 4_000_000
const smallLines = isLong ? 50_000 : 10_000
const hugeLine = `{"jsonrpc":"2.0","id":9,"result":{"data":"${'0123456789abcdef'.repeat(hugeBytes / 16)}"}}\n`
const bytewise = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte))

const conversations: readonly Conversation[] = [
  { name: 'nothing at all', writes: [] },
  {
    name: 'JSON-RPC',
    writes: [
      `${request}\n`,
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
      `[${request}, ${request}]\n`,
    ],
  },
  {
    name: 'JSON whose text a reprint would change',
    writes: [
      ' {"jsonrpc":"2.0", "id":12345678901234567890, "result":{"a":1.0e+2,"a":-0}}\t \n',
      '{"jsonrpc":"2.0","method":"\\u006e","params":{"__proto__":{},"x":"\\ud800 \u2028\u2029"}}\n',
      '{"jsonrpc":"2.0",\r"method":"a"}\n\uFEFF{"jsonrpc":"2.0","method":"bom"}\n',
      `{"jsonrpc":"2.0","method":"deep","params":${'['.repeat(19_990)}${']'.repeat(19_990)}}\n`,
    ],
  },
  {
    name: 'junk',
    writes: ['Starting…\n', '{"jsonrpc":\n', '42\n"text"\nnull\n[]\n[1]\n', '\u001B[31mred\u001B[0m\n'],
  },
  { name: 'blank lines', writes: ['\n\n   \n', '\t\n\r\n\n', `${request}\n\n`] },
  { name: 'CR LF line ends', writes: [`${request}\r\n`, `${request}\r`, '\n', 'junk\r\n\r\n\r'] },
  { name: 'CRs inside of lines', writes: ['a\rb\n', '\r\r\n', '{"a"\r:1}\r\r\n', 'last\r'] },
  {
    name: 'invalid UTF-8',
    writes: [binary, '\n{"a":"', Uint8Array.of(0xff, 0xc3, 0x28), '"}\n', Uint8Array.of(0xe2, 0x82)],
  },
  { name: 'NUL bytes', writes: ['\0', `\0\0\n${request}\0\n`, '{"a":"\0"}\n\0'] },
  { name: 'a last line without a line end', writes: [`${request}\n`, request] },
  {
    name: 'characters split across writes',
    writes: [emoji.subarray(0, 49), emoji.subarray(49, 56), emoji.subarray(56)],
  },
  { name: 'one byte a write', writes: bytewise(Buffer.concat([emoji, Buffer.from('junk\r\n\r\n{}\n')])) },
  { name: 'a huge line', writes: [hugeLine] },
  {
    name: 'thousands of small lines at once',
    writes: [
      Array.from({ length: smallLines }, (_, n) => `{"jsonrpc":"2.0","id":${n},"method":"ping"}\n`).join(''),
    ],
  },
  {
    name: 'text on stderr with partial lines',
    answersOn: 'stderr',
    writes: [
      'warning: ',
      'half',
      ' a line\n',
      '\u001B[1mbold\u001B[0m\r\n',
      'progress 1\rprogress 2\r',
      'no end',
    ],
  },
  { name: 'binary on stderr', answersOn: 'stderr', writes: [binary, '\0\n', Uint8Array.of(0xff)] },
  {
    name: 'long lines on stderr',
    answersOn: 'stderr',
    writes: [
      `${'é'.repeat(40_000)}\r\n`,
      `${'y'.repeat(65_536)}\n`,
      `${'z'.repeat(131_072)}\r\n`,
      'w'.repeat(70_000),
    ],
  },
]

const [empty, huge] = conversations.filter(({ name }) =>
  ['nothing at all', 'a huge line'].includes(name),
) as [Conversation, Conversation]

/** All other conversations with answers on one stream, one after another in one session. */
function together(answersOn: 'stdout' | 'stderr'): Conversation {
  const parts = conversations.filter(
    (conversation) =>
      conversation !== empty && conversation !== huge && (conversation.answersOn ?? 'stdout') === answersOn,
  )
  return {
    name: `all other conversations on ${answersOn}, one after another`,
    answersOn,
    writes: [...parts.flatMap(({ writes }) => [...writes, '\n']), 'a last line without a line end'],
  }
}

/** `npm run test:long` has every conversation alone, over every connection. */
const fewer: Readonly<Record<string, readonly Conversation[]>> = {
  sockets: [empty, huge, together('stdout'), together('stderr')],
  pipes: [huge, together('stdout')],
  files: [huge, together('stdout')],
}

/** Everything of a conversation that is visible from outside. */
interface Seen {
  readonly byServer: Buffer
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly ending: Ending | undefined
}

/** A kind of connection between a client and its server. Resolves when the conversation is over. */
type Way = (
  stage: Stage,
  argv: readonly string[],
  conversation: Conversation,
  name: string,
) => Promise<Omit<Seen, 'byServer'>>

const ways: Readonly<Record<string, Way>> = {
  async sockets(stage, argv, { writes }) {
    const actor = stage.start(argv)
    for (const bytes of writes) {
      await actor.send(bytes)
      // Makes the bytes arrive in a chunk of their own.
      await new Promise((done) => setImmediate(done))
    }
    actor.stdin.end()
    const ending = await actor.ended
    return { stdout: actor.stdout(), stderr: actor.stderr(), ending }
  },

  async pipes(stage, argv, { writes }, name) {
    const [input, output, errors] = ['in', 'out', 'err'].map((end) => stage.path(`${name}.${end}`)) as [
      string,
      string,
      string,
    ]
    writeFileSync(input, Buffer.concat(writes.map((bytes) => Buffer.from(bytes))))
    const script = '{ cat "$IN" | "$@" 2>&3 3>&- | cat >"$OUT"; } 3>&1 >/dev/null | cat >"$ERR"'
    const env = { ...stage.env, IN: input, OUT: output, ERR: errors }
    await stage.start(['sh', '-c', script, 'sh', ...argv], { env }).ended
    return { stdout: readFileSync(output), stderr: readFileSync(errors), ending: undefined }
  },

  async files(stage, argv, { writes }, name) {
    const [input, output, errors] = ['in', 'out', 'err'].map((end) => stage.path(`${name}.${end}`)) as [
      string,
      string,
      string,
    ]
    writeFileSync(input, Buffer.concat(writes.map((bytes) => Buffer.from(bytes))))
    const stdio = [openSync(input, 'r'), openSync(output, 'w'), openSync(errors, 'w')]
    const actor = stage.start(argv, { stdio })
    for (const fd of stdio) closeSync(fd)
    const ending = await actor.ended
    return { stdout: readFileSync(output), stderr: readFileSync(errors), ending }
  },
}

/** A server that keeps what it read in a file and sends all of it back. */
function mirror(seenPath: string, answersOn: 'stdout' | 'stderr'): string[] {
  return answersOn === 'stdout' ? ['tee', seenPath] : ['sh', '-c', 'exec tee "$0" >&2', seenPath]
}

const stage = useStage()

describe.each(Object.entries(ways))(
  'over %s, client and server see the same bytes with and without a recorder',
  (name, way) => {
    it.each(
      (isLong ? conversations : fewer[name]!).map(
        (conversation) => [conversation.name, conversation] as const,
      ),
    )('%s', async (_, conversation) => {
      const { answersOn = 'stdout', writes } = conversation
      const see = async (which: string, wrap: (command: string[]) => string[]): Promise<Seen> => {
        const seenPath = stage.path(`${which}.seen`)
        const seen = await way(stage, wrap(mirror(seenPath, answersOn)), conversation, which)
        return { ...seen, byServer: readFileSync(seenPath) }
      }
      const without = await see('without', (command) => command)
      const withUs = await see('with', (command) => stage.record(command))

      const sent = Buffer.concat(writes.map((bytes) => Buffer.from(bytes)))
      expectSame(without[answersOn], sent, 'the mirror itself')
      expectSame(withUs.byServer, without.byServer, 'what the server read')
      expectSame(withUs.stdout, without.stdout, 'stdout')
      expectSame(withUs.stderr, without.stderr, 'stderr')
      expect(withUs.ending).toEqual(without.ending)

      const tape = stage.tape()
      expectSame(bytesOfTape(tape, 'in'), sent, 'stdin on the tape')
      expectSame(bytesOfTape(tape, 'out'), without.stdout, 'stdout on the tape')
      expectSame(bytesOfTape(tape, 'err'), without.stderr, 'stderr on the tape')
      const lines = linesOfTape(tape)
      expect(lines.filter(({ type }) => type === 'gap')).toEqual([])
      expect([lines[0]!['type'], lines.at(-1)!['type']]).toEqual(['meta', 'end'])
      expect(stage.running()).toEqual([])
    })

    it('a start script that opens its streams by name', async () => {
      const script =
        'echo "Starting…" >/dev/stderr; while read -r line </dev/stdin; do echo "$line" >/dev/stdout; break; done; exit 4'
      const conversation = { name: '', writes: [`${request}\n`] }
      const without = await way(stage, ['sh', '-c', script], conversation, 'without')
      const withUs = await way(stage, stage.record(['sh', '-c', script]), conversation, 'with')
      expect(withUs.stdout.toString()).toBe(without.stdout.toString())
      expect(withUs.stderr.toString()).toBe(without.stderr.toString())
      expect(withUs.ending).toEqual(without.ending)
      if (name === 'pipes') expect(withUs.stdout.toString()).toBe(`${request}\n`)
    })
  },
)

it('passes on and records the junk of a server that also speaks JSON-RPC', async () => {
  const without = stage.start(server('junk.mjs'))
  await without.ended
  const withUs = stage.start(stage.record(server('junk.mjs')))
  await withUs.ended
  expectSame(withUs.stdout(), without.stdout(), 'stdout')
  expectSame(withUs.stderr(), without.stderr(), 'stderr')
  expectSame(bytesOfTape(stage.tape(), 'out'), without.stdout(), 'stdout on the tape')
})

it('gives the server the same environment and working directory as without a recorder', async () => {
  const cwd = stage.path('a folder')
  mkdirSync(cwd)
  const env = {
    ...stage.env,
    NODE_OPTIONS: '--no-warnings',
    EMPTY: '',
    'odd name': 'line 1\nline 2',
    PATH: process.env['PATH'],
  }
  const look = ['sh', '-c', 'pwd; pwd -P; umask; env -0 | sort -z']
  const without = stage.start(look, { cwd, env })
  await without.ended
  const withUs = stage.start(stage.record(look), { cwd, env })
  await withUs.ended
  expect(withUs.stdout().toString()).toBe(without.stdout().toString())
  expect(readIfThere(stage.tape())).not.toBe('')
})

/** Like `toEqual`, but quick for megabytes and with a short message. */
function expectSame(actual: Buffer, wanted: Buffer, what: string): void {
  if (actual.equals(wanted)) return
  const at = wanted.findIndex((byte, i) => actual[i] !== byte)
  const from = Math.max(0, (at === -1 ? wanted.length : at) - 20)
  const part = (bytes: Buffer): string => bytes.subarray(from, from + 60).toString('latin1')
  expect({ what, bytes: actual.length, from, part: part(actual) }).toEqual({
    what,
    bytes: wanted.length,
    from,
    part: part(wanted),
  })
}
