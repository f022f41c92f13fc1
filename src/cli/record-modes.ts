import { WiretapeError } from '../model/index.js'
import type { RecordOptions } from './record-flag.js'

/**
 * The sides that `record` connects: its own stdin and a command, HTTP clients and a command, HTTP clients and a URL, its
 * own stdin and a URL, a client and all of its servers.
 */
export type RecordMode = 'stdio' | 'listen' | 'url' | 'bridge' | 'forward'

/** Options that apply only to these modes. */
const owned: readonly { key: keyof RecordOptions; flag: string; modes: readonly RecordMode[]; of: string }[] =
  [
    { key: 'shared', flag: '--shared', modes: ['listen'], of: '--listen and a command' },
    { key: 'watch', flag: '--watch', modes: ['stdio', 'listen'], of: 'a command' },
    { key: 'reloadable', flag: '--reloadable', modes: ['stdio', 'listen'], of: 'a command' },
    { key: 'reloadTimeout', flag: '--reload-timeout', modes: ['stdio', 'listen'], of: 'a command' },
    { key: 'strictReload', flag: '--strict-reload', modes: ['stdio', 'listen'], of: 'a command' },
    { key: 'header', flag: '--header', modes: ['bridge'], of: '--bridge' },
    { key: 'only', flag: '--only', modes: ['forward'], of: '--forward' },
    { key: 'skip', flag: '--skip', modes: ['forward'], of: '--forward' },
    { key: 'caDir', flag: '--ca-dir', modes: ['forward'], of: '--forward' },
    {
      key: 'allowRemote',
      flag: '--allow-remote',
      modes: ['listen', 'url', 'forward'],
      of: '--url, or --listen and a command',
    },
    {
      key: 'openToAllUsers',
      flag: '--open-to-all-users',
      modes: ['listen', 'url', 'forward'],
      of: '--url, --forward, or --listen and a command',
    },
    {
      key: 'insecure',
      flag: '--insecure',
      modes: ['url', 'bridge', 'forward'],
      of: '--url, --bridge or --forward',
    },
    { key: 'oauthRewrite', flag: '--no-oauth-rewrite', modes: ['url'], of: '--url' },
  ]

/** @throws WiretapeError `usage` for conflicting options */
export function modeOf(command: readonly string[], options: RecordOptions): RecordMode {
  const { url, listen, bridge, forward } = options
  const mode = forward
    ? 'forward'
    : bridge
      ? 'bridge'
      : url !== undefined
        ? 'url'
        : listen !== undefined
          ? 'listen'
          : 'stdio'
  if (forward && bridge) throw wrong('--forward and --bridge cannot be combined')
  if (forward && url !== undefined)
    throw wrong('--forward and --url cannot be combined', 'with --forward, the client names the server')
  if (bridge && url === undefined) throw wrong('--bridge needs the --url of the server')
  if (bridge && listen !== undefined)
    throw wrong('--bridge and --listen cannot be combined: the client starts a bridge')
  if (command.length > 0 && mode === 'bridge') throw wrong('--bridge and a command cannot be combined')
  if (command.length > 0 && mode === 'url') throw wrong('--url and a command cannot be combined')
  if (options.server !== undefined) throw wrong('--server needs --config')
  refuseForeign(mode, options)
  return mode
}

/** @throws WiretapeError `usage` for an option that does not apply to this mode */
export function refuseForeign(mode: RecordMode, options: RecordOptions): void {
  for (const { key, flag, modes, of } of owned) {
    const isGiven = key === 'oauthRewrite' ? options[key] === false : options[key] !== undefined
    if (isGiven && !modes.includes(mode)) throw wrong(`${flag} requires ${of}`)
  }
  if (mode === 'forward' && options.allowRemote)
    throw wrong(
      '--allow-remote and --forward cannot be combined',
      'other machines could connect to any address through the proxy',
    )
  if (mode === 'forward' && options.sessionFile !== undefined)
    throw wrong(
      '--session-file and --forward cannot be combined: --forward writes a tape for each server',
      'convert each tape with wiretape convert TAPE FILE.json',
    )
  const isReloadable = options.watch !== undefined || options.reloadable === true
  if ((options.reloadTimeout !== undefined || options.strictReload) && !isReloadable)
    throw wrong(
      `${options.strictReload ? '--strict-reload' : '--reload-timeout'} requires --watch or --reloadable`,
    )
  if (options.maxFiles !== undefined && options.maxBytes === undefined)
    throw wrong('--max-files needs --max-bytes', '--max-files is the number of files of that size to keep')
}

function wrong(message: string, hint?: string): WiretapeError {
  return new WiretapeError('usage', message, hint === undefined ? {} : { hint })
}
