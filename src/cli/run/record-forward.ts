import { join, resolve } from 'node:path'
import { recordForward, type ForwardResult } from '../../capture/index.js'
import { WiretapeError } from '../../model/index.js'
import { parseHostPattern, type HostPattern } from '../../transports/index.js'
import { accessOf } from '../access.js'
import { hasAudience, type Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import type { RecordOptions } from '../record-flag.js'
import { captureOptions, conclude, unlessUnwritable } from './record.js'
import { whyNothing } from './why-nothing.js'

/**
 * Records a client's traffic to any server. A given command is started, and its exit status is ours; without one,
 * the variables for a client are printed on stdout, and a signal ends the recording.
 */
export async function runRecordForward(
  command: readonly string[],
  options: RecordOptions,
  io: Io,
): Promise<number> {
  const { host, port } = parseListen(options.listen)
  if (command.length === 0 && options.listen === undefined) {
    throw new WiretapeError('usage', '--forward needs a client', {
      hint: 'name its command after --, or use --listen to wait for one',
    })
  }
  if (command[0] === '') throw new WiretapeError('usage', 'the client command is empty')
  const { label, ...files } = captureOptions(options, options.label ?? '', io)
  return unlessUnwritable(io, async () => {
    const result = await recordForward({
      ...files,
      ...(label !== '' && { label }),
      command,
      host,
      port,
      access: accessOf(options.openToAllUsers, label, port, io),
      caFolder: options.caDir === undefined ? join(io.dataFolder, 'ca') : resolve(io.cwd, options.caDir),
      insecure: options.insecure === true,
      only: patternsOf('--only', options.only),
      skip: patternsOf('--skip', options.skip),
      env: process.env,
      onListening: (variables) => announce(command, variables, options, io),
      onNotice: (line) => io.complain(line),
    })
    await tell(result, command, options, io)
    return result.exitCode
  })
}

function patternsOf(flag: string, texts: readonly string[] = []): HostPattern[] {
  return texts.map((text) => {
    const pattern = parseHostPattern(text)
    if (pattern) return pattern
    const hint = 'such as example.com, *.example.com or 127.0.0.1:8080'
    throw new WiretapeError('usage', `${flag} ${text} is not a host`, { hint })
  })
}

/** The terminal is ours until the client is started, then the client's. */
async function announce(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
  options: RecordOptions,
  io: Io,
): Promise<void> {
  if (command.length === 0) {
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    await io.write(lines.join(''))
    await io.flush()
  }
  if (options.quiet) return
  if (command.length === 0) await io.complain(`recording; give clients the variables above, end with Ctrl+C`)
  if (options.insecure) await io.complain('certificates of servers are not checked (--insecure)')
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

async function tell(
  result: ForwardResult,
  command: readonly string[],
  options: RecordOptions,
  io: Io,
): Promise<void> {
  if (result.notStarted !== undefined) return io.complain(result.notStarted, 'nothing was recorded')
  const { servers, traffic } = result
  for (const [i, server] of servers.entries()) {
    // All servers of a run share its rules, so their problems are reported once.
    const { rulesFault: _, ...others } = server
    await conclude(i === 0 ? server : others, options, io, server.origin)
  }
  for (const origin of traffic.unrecorded)
    await io.complain(`${origin} was not recorded: ${traffic.trouble ?? 'there are too many servers'}`)
  const pinned = [...traffic.tunnels].filter(([, why]) => why === 'pinned').map(([place]) => place)
  if (servers.length + traffic.unrecorded.length > 0) {
    if (pinned.length > 0 && (hasAudience() || !options.quiet)) await io.complain(pinnedWords(pinned))
    return
  }
  await io.complain(`no MCP traffic passed: ${await whyNothing(result.traffic, command, process.env)}`)
}

function pinnedWords(places: readonly string[]): string {
  return `not recorded, because the client does not trust the certificate of wiretape: ${places.join(', ')}`
}
