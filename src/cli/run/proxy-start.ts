import { isatty } from 'node:tty'
import { splitCommandLine, WiretapeError } from '../../model/index.js'
import { parseHttpUrl } from '../http-url-option.js'
import type { Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import { refuseForeign } from '../record-modes.js'
import type { RecordOptions } from '../record-flag.js'
import { runRecord } from './record.js'

export interface ProxyStartOptions {
  readonly transport: Transport
  readonly targetCommand?: string
  readonly targetUrl?: string
  readonly listenPort?: string
  readonly listenTransport?: Transport
}

type Transport = 'stdio' | 'streamable-http' | 'sse'

/** Like `record`, with the server's command line as one string, or its URL. */
export async function runProxyStart(options: ProxyStartOptions & RecordOptions, io: Io): Promise<number> {
  const { transport, targetCommand, targetUrl, listenPort, listenTransport, ...recording } = options
  if (listenPort !== undefined && recording.listen !== undefined)
    throw wrong('--listen and --listen-port cannot be combined')
  parseListen(listenPort, '--listen-port')
  if (listenTransport === 'stdio' && (listenPort ?? recording.listen) !== undefined)
    throw wrong(
      `${listenPort === undefined ? '--listen' : '--listen-port'} and --listen-transport stdio cannot be combined`,
    )
  if (transport === 'stdio') {
    if (targetUrl !== undefined) throw wrong('--target-url needs --transport streamable-http or sse')
    if (targetCommand === undefined) throw wrong('--target-command is missing')
    const split = splitCommandLine(targetCommand)
    if ('fault' in split) throw wrong(`--target-command: ${split.fault}`)
    if (split.words.length === 0) throw wrong('--target-command is empty')
    if (listenTransport === 'sse') throw wrong('--listen-transport sse needs --transport sse')
    // A terminal is no MCP client: clients get a URL, the person there a screen.
    if (listenTransport === 'streamable-http' || (listenTransport === undefined && isTerminal())) {
      refuseForeign('listen', recording)
      const { runRecordListen } = await import('./record-listen.js')
      return runRecordListen(
        split.words,
        { ...recording, listen: listenPort ?? recording.listen ?? '0' },
        io,
        isTerminal(),
      )
    }
    return runRecord(
      split.words,
      { ...recording, ...(listenPort !== undefined && { listen: listenPort }) },
      io,
    )
  }
  if (targetCommand !== undefined) throw wrong(`--target-command needs --transport stdio, not ${transport}`)
  if (targetUrl === undefined) throw wrong('--target-url is missing')
  parseHttpUrl(targetUrl, '--target-url')
  if (listenTransport === 'stdio') {
    refuseForeign('bridge', recording)
    const { runRecordBridge } = await import('./record-bridge.js')
    return runRecordBridge(targetUrl, recording, io)
  }
  if (listenTransport !== undefined && listenTransport !== transport)
    throw wrong(`--listen-transport ${listenTransport} needs --transport ${listenTransport}`)
  refuseForeign('url', recording)
  const { runRecordHttp } = await import('./record-http.js')
  const listen = listenPort === undefined ? {} : { listen: listenPort }
  return runRecordHttp(targetUrl, transport, { ...recording, ...listen }, io, isTerminal())
}

/** Then our stdin and stdout are free. */
function isTerminal(): boolean {
  return isatty(0) && isatty(1)
}

function wrong(message: string): WiretapeError {
  return new WiretapeError('usage', message, { hint: 'see wiretape proxy start --help' })
}
