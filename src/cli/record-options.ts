import { durationForms } from '../model/index.js'
import { parseTimeout } from './duration-option.js'
import { parseKeep } from './keep-option.js'
import { parseSize } from './size-option.js'
import { otlpFlags } from './otlp-flags.js'
import type { RecordOptions, RecordFlag } from './record-flag.js'

/** The value of a repeatable option, after those given before. */
function repeated<T>(value: T, before: unknown): T[] {
  return [...((before as T[] | undefined) ?? []), value]
}

export const recordFlags: readonly RecordFlag[] = [
  {
    long: '--config',
    key: 'config',
    value: 'file',
    help: "record a server from a client's configuration, an MCP bundle (.mcpb) or a registry entry (server.json)",
  },
  { long: '--server', key: 'server', value: 'name', help: 'with --config: which server' },
  {
    long: '--url',
    key: 'url',
    value: 'url',
    help: 'record the HTTP server at this URL; clients use the URL that is printed',
  },
  {
    long: '--listen',
    key: 'listen',
    value: 'host:port',
    help: 'address for clients (default: a free port of 127.0.0.1)',
  },
  { long: '--allow-remote', key: 'allowRemote', help: 'allow an address that other machines can reach' },
  {
    long: '--open-to-all-users',
    key: 'openToAllUsers',
    help: 'serve every user and host that can connect',
  },
  {
    long: '--bridge',
    key: 'bridge',
    help: 'with --url: act as a stdio server for the client, and connect to the server over HTTP',
  },
  {
    long: '--header',
    key: 'header',
    value: 'name: value',
    help: 'with --bridge: send this header with every request; ${NAME} comes from the environment; repeatable',
    parse: repeated,
  },
  {
    long: '--shared',
    key: 'shared',
    help: 'with --listen and a command: one server process for all clients',
  },
  {
    long: '--watch',
    key: 'watch',
    value: 'glob',
    help: 'restart the server when a matching file changes; the client stays connected; repeatable',
    parse: repeated,
  },
  { long: '--reloadable', key: 'reloadable', help: 'allow `wiretape reload` to restart the server' },
  {
    long: '--reload-timeout',
    key: 'reloadTimeout',
    value: 'time',
    help: `how long the client waits for the restarted server: ${durationForms} (default: 30s)`,
    parse: parseTimeout,
  },
  {
    long: '--strict-reload',
    key: 'strictReload',
    help: 'keep the old process if the new one no longer offers what the client knows',
  },
  {
    long: '--forward',
    key: 'forward',
    help: 'record through a forward proxy; the command is the client, or --listen waits for one',
  },
  {
    long: '--only',
    key: 'only',
    value: 'host',
    help: 'with --forward: record only this host and tunnel the rest; repeatable',
    parse: repeated,
  },
  {
    long: '--skip',
    key: 'skip',
    value: 'host',
    help: 'with --forward: tunnel this host without recording; repeatable',
    parse: repeated,
  },
  {
    long: '--ca-dir',
    key: 'caDir',
    value: 'dir',
    help: 'with --forward: folder of the certificate authority (default: in your data folder)',
  },
  { long: '--insecure', key: 'insecure', help: "do not verify the server's certificate" },
  {
    long: '--no-oauth-rewrite',
    key: 'oauthRewrite',
    given: false,
    help: 'forward OAuth metadata unchanged',
  },
  {
    long: '--out',
    short: '-o',
    key: 'out',
    value: 'dir',
    help: 'folder for the tape (default: the recordings in your data folder)',
  },
  {
    long: '--label',
    key: 'label',
    value: 'name',
    help: "name of the recording (default: the server's name)",
  },
  {
    long: '--session-file',
    key: 'sessionFile',
    value: 'file',
    help: 'also write a session file (JSON); an existing one becomes FILE.bak',
  },
  { long: '--compact', key: 'compact', help: 'session files: write each payload on one line' },
  { long: '--target', key: 'target', value: 'name', help: 'name of the recorded target, for the metadata' },
  {
    long: '--note',
    key: 'note',
    value: 'text',
    help: 'a note for the metadata; repeatable',
    parse: repeated,
  },
  {
    long: '--meta',
    key: 'meta',
    value: 'key=value',
    help: 'more metadata; repeatable',
    parse: (value, before) => repeated(parsePair(value), before),
  },
  {
    long: '--max-bytes',
    key: 'maxBytes',
    value: 'size',
    help: 'start a new file before this size, such as 50MB',
    parse: parseSize,
  },
  {
    long: '--max-files',
    key: 'maxFiles',
    value: 'n',
    help: 'keep only the newest files (with --max-bytes)',
    parse: parseCount,
  },
  {
    long: '--seal-after',
    key: 'sealAfter',
    value: 'time',
    help: 'start a new file when one is this old, so that `wiretape ship` can ship it, e.g. 5m',
    parse: parseTimeout,
  },
  {
    long: '--keep',
    key: 'keep',
    value: 'time,size',
    help: 'delete recordings of this label older than an age or beyond a total size, such as 30d,2GB',
    parse: parseKeep,
  },
  { long: '--strict-v1', key: 'strictV1', help: 'write only members of the published trace v1 format' },
  {
    long: '--redact',
    key: 'redact',
    value: 'pattern',
    help: 'redact what this RE2 pattern matches; repeatable',
    parse: repeated,
  },
  { long: '--redact-file', key: 'redactFile', value: 'file', help: 'a file of redaction rules (JSON)' },
  {
    long: '--no-redact-defaults',
    key: 'redactDefaults',
    given: false,
    help: 'redact only what --redact and --redact-file match',
  },
  {
    long: '--tag-key',
    key: 'tagKey',
    value: 'file',
    help: 'tag equal secrets equally on all tapes recorded with this key file; created if missing',
  },
  { long: '--redact-report', key: 'redactReport', help: 'print how often each redaction rule matched' },
  {
    long: '--rules',
    key: 'rules',
    value: 'file',
    help: 'hold, drop or change messages by these rules (YAML, JSON)',
  },
  { long: '--intercept', key: 'intercept', help: 'hold every message until a person decides' },
  {
    long: '--break',
    key: 'break',
    value: 'filter',
    help: 'hold only messages that match this filter; repeatable',
    parse: repeated,
  },
  {
    long: '--wait-for-attach',
    key: 'waitForAttach',
    help: 'hold everything until a person attaches, also what --break does not match',
  },
  {
    long: '--hold-timeout',
    key: 'holdTimeout',
    value: 'time',
    help: `forward a held message after this time: ${durationForms} (default: never)`,
    parse: parseTimeout,
  },
  {
    long: '--hold-order',
    key: 'holdOrder',
    value: 'order',
    help: 'exchange: a held message stops the rest of its exchange (default); fifo: it stops all later messages',
    parse: (value) => oneOf(value, ['exchange', 'fifo']),
  },
  {
    long: '--on-detach',
    key: 'onDetach',
    value: 'what',
    help: 'forward (default) or drop held messages when the last screen detaches',
    parse: (value) => oneOf(value, ['forward', 'drop']),
  },
  {
    long: '--on-finding',
    key: 'onFinding',
    value: 'rule=action',
    help: 'note, hold or block messages with a finding of this rule of `check`; repeatable',
    parse: (value, before) => repeated(parseFindingAction(value), before),
  },
  {
    long: '--pin',
    key: 'pin',
    value: 'file',
    help: 'compare what the server offers with this lock file of `wiretape pin`',
  },
  {
    long: '--on-drift',
    key: 'onDrift',
    value: 'action',
    help: 'note (default), hold or block definitions that differ from the lock file',
    parse: (value) => oneOf(value, findingActions),
  },
  {
    long: '--on-unattended',
    key: 'onUnattended',
    value: 'what',
    help: 'forward (default) or block messages that would be held, if no person is attached',
    parse: (value) => oneOf(value, ['forward', 'block']),
  },
  ...otlpFlags,
  {
    long: '--quiet',
    short: '-q',
    key: 'quiet',
    help: 'print nothing at the end unless something went wrong',
  },
]

/** Defaults of switches that disable something. */
const switchedOn = Object.fromEntries(
  recordFlags.filter(({ given }) => given === false).map(({ key }) => [key, true]),
)

/** A valid command line of `record`. */
export interface RecordArgs {
  readonly command: readonly string[]
  readonly options: RecordOptions
}

/**
 * Reads the arguments of `record` without the program's parser, which would cost every start of a server some
 * milliseconds. Undefined unless clearly valid: the full parser then reports the problem.
 */
export function parseRecordArgs(args: readonly string[]): RecordArgs | undefined {
  const options: { [key: string]: unknown } = { ...switchedOn }
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!
    if (arg === '--' || !arg.startsWith('-') || arg === '-') {
      const command = args.slice(arg === '--' ? at + 1 : at)
      return command.length === 0 ? undefined : { command, options }
    }
    const equals = arg.startsWith('--') ? arg.indexOf('=') : -1
    const name = equals === -1 ? arg : arg.slice(0, equals)
    const flag = recordFlags.find(({ long, short }) => name === long || name === short)
    if (!flag || (flag.value === undefined && equals !== -1)) return undefined
    let value: unknown = flag.given ?? true
    if (flag.value !== undefined) {
      const text = equals === -1 ? args[(at += 1)] : arg.slice(equals + 1)
      if (text === undefined) return undefined
      try {
        value = flag.parse ? flag.parse(text, options[flag.key]) : text
      } catch {
        return undefined
      }
    }
    options[flag.key] = value
  }
  return undefined
}

const findingActions = ['note', 'hold', 'block']

function parseFindingAction(value: string): [string, string] {
  const [id, action] = parsePair(value)
  return [id, oneOf(action, findingActions)]
}

function parsePair(value: string): [string, string] {
  const at = value.indexOf('=')
  if (at < 1) throw new Error('Use the form KEY=VALUE.')
  return [value.slice(0, at), value.slice(at + 1)]
}

function parseCount(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error('Use a whole number, at least 1.')
  return Number(value)
}

function oneOf(value: string, words: readonly string[]): string {
  if (!words.includes(value)) throw new Error(`Use ${words.join(' or ')}.`)
  return value
}
