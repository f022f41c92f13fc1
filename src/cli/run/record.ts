import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  defaultLabel,
  policyInForce,
  recordStdio,
  registryFolderIn,
  type CaptureFiles,
  type CaptureOptions,
  type ReloadSettings,
  type ServerStart,
} from '../../capture/index.js'
import { WiretapeError, type RuleCount } from '../../model/index.js'
import type { Redaction } from '../../proxy/index.js'
import { isNamedPipe, readReason } from '../../tape/index.js'
import { exitCode } from '../exit-codes.js'
import { sayClientExpected } from '../expected-client.js'
import { concludeTelemetry, telemetryOf } from '../export-telemetry.js'
import { hasAudience, type Io } from '../io.js'
import { isLaunched } from '../launched.js'
import { metadataOf } from '../metadata.js'
import { modeOf } from '../record-modes.js'
import type { Keep } from '../keep-option.js'
import { originKeyIn, readTagKey } from '../keys.js'
import type { RecordOptions } from '../record-flag.js'
import { readVersion } from '../version.js'
import { tapesFolder } from './first-start.js'

/**
 * Returns the exit status. Loads little, since the client is waiting.
 *
 * @param server the server's process, if it is started already
 */
export async function runRecord(
  command: readonly string[],
  options: RecordOptions,
  io: Io,
  server?: ServerStart,
): Promise<number> {
  if (options.config !== undefined) {
    const { runRecordConfigured } = await import('./record-configured.js')
    return runRecordConfigured(options.config, command, options, io)
  }
  const mode = modeOf(command, options)
  if (mode === 'forward') {
    const { runRecordForward } = await import('./record-forward.js')
    return runRecordForward(command, options, io)
  }
  if (mode === 'bridge') {
    const { runRecordBridge } = await import('./record-bridge.js')
    return runRecordBridge(options.url!, options, io)
  }
  if (mode === 'url') {
    const { runRecordHttp } = await import('./record-http.js')
    return runRecordHttp(options.url!, 'streamable-http', options, io)
  }
  if (command.length === 0) {
    throw new WiretapeError('usage', 'a server is needed', {
      hint: 'name the server command after --, or its --url',
    })
  }
  if (command[0] === '') throw new WiretapeError('usage', 'the server command is empty')
  if (mode === 'listen') {
    const { runRecordListen } = await import('./record-listen.js')
    return runRecordListen(command, options, io)
  }
  const capture = captureOptions(options, options.label ?? defaultLabel(command, io.cwd), io)
  await sayClientExpected(io, options.quiet, howToStart)
  const record = async (): Promise<number> => {
    const result = await recordStdio({
      command,
      ...capture,
      ...reloadOf(options, io),
      ...(server && { server }),
    })
    await conclude(result, options, io)
    return result.exitCode
  }
  return isLaunched() ? record() : unlessUnwritable(io, record)
}

/** A tape that cannot be written ends the command with a complaint. */
export async function unlessUnwritable(io: Io, record: () => Promise<number>): Promise<number> {
  try {
    return await record()
  } catch (error) {
    if (!(error instanceof WiretapeError) || error.code !== 'unwritable') throw error
    await io.complain(error.message, error.hint)
    return exitCode.found
  }
}

/** Hint for people who typed the command. */
export const howToStart = 'clients start this command from their configuration'

/** Settings shared by all transports. */
export function captureOptions(options: RecordOptions, label: string, io: Io): CaptureOptions {
  if (options.sessionFile === '-') {
    throw new WiretapeError('usage', 'a session file cannot be stdout', { hint: 'name a file' })
  }
  const folder = tapesFolder(options.out, io)
  if (options.keep) keepLater(folder, label, options.keep, io)
  void retainLater(io)
  return {
    folder,
    registryFolder: registryFolderIn(io.dataFolder),
    label,
    metadata: metadataOf(options),
    redaction: redactionOf(options, io),
    strict: options.strictV1 === true,
    ...(options.sessionFile !== undefined && { sessionFile: resolve(io.cwd, options.sessionFile) }),
    ...(options.compact && { compact: true }),
    ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
    ...(options.maxFiles !== undefined && { maxFiles: options.maxFiles }),
    ...(options.sealAfter !== undefined && { sealAfterMs: options.sealAfter }),
    originKey: () => originKeyIn(io.dataFolder),
    version: readVersion(),
    onTrouble: (line) => void io.complain(line),
    ...interceptOf(options),
    ...guardOf(options, io),
    ...telemetryOf(options, io),
    ...(options.rules !== undefined && { rulesFile: resolve(io.cwd, options.rules) }),
  }
}

/** Old recordings are deleted after the client's first responses. */
const keepDelayMs = 2_000

function keepLater(folder: string, label: string, keep: Keep, io: Io): void {
  // Loaded early: an update of wiretape may replace the files while this recorder runs.
  const loaded = import('../keep-recordings.js')
  loaded.catch(() => undefined)
  setTimeout(() => {
    void loaded
      .then(({ keepRecordings }) => keepRecordings(folder, label, keep, io.dataFolder))
      .catch((error: unknown) => io.complain(`old recordings were not deleted: ${String(error)}`, folder))
  }, keepDelayMs).unref()
}

/** The policy's limits apply to all recordings. */
async function retainLater(io: Io): Promise<void> {
  const inForce = await policyInForce()
  if (inForce.kind !== 'policy') return
  const { retentionAgeMs, retentionBytes, quotaBytes } = inForce.policy
  if (!retentionAgeMs && !retentionBytes && !quotaBytes) return
  const loaded = import('../retention.js')
  loaded.catch(() => undefined)
  setTimeout(() => {
    void loaded
      .then(({ enforceRetention }) => enforceRetention(io.dataFolder))
      .catch((error: unknown) => io.complain(`old recordings were not deleted: ${String(error)}`))
  }, keepDelayMs).unref()
}

/** Loads its code only on request. */
function interceptOf(options: RecordOptions): Pick<CaptureOptions, 'intercept'> {
  const { intercept, break: breakpoints = [], waitForAttach, holdOrder, holdTimeout, onDetach } = options
  const hold = intercept === true || waitForAttach === true || breakpoints.length > 0
  if (!hold && holdOrder === undefined && holdTimeout === undefined && onDetach === undefined) return {}
  return {
    intercept: {
      hold,
      breakpoints,
      awaitScreen: waitForAttach === true,
      order: holdOrder ?? 'exchange',
      holdTimeoutMs: holdTimeout,
      onDetach: onDetach ?? 'forward',
    },
  }
}

/** The rules of findings, if they are to check live messages. */
function guardOf(options: RecordOptions, io: Io): Pick<CaptureOptions, 'guard'> {
  const { onFinding = [], pin, onDrift, onUnattended } = options
  if (pin === undefined && onDrift !== undefined)
    throw new WiretapeError('usage', '--on-drift needs a lock file', { hint: 'add --pin wiretape.lock' })
  if (onFinding.length === 0 && pin === undefined) {
    if (onUnattended === undefined) return {}
    throw new WiretapeError('usage', '--on-unattended needs --on-finding or --on-drift')
  }
  return { guard: async () => (await import('../live-findings.js')).liveFindings(options, io) }
}

/** A client's longest wait for a server that does not start. */
const reloadTimeoutMs = 30_000

/** Replacement of the server's process, if requested. */
export function reloadOf(options: RecordOptions, io: Io): { reload?: ReloadSettings } {
  const { watch = [], reloadable, reloadTimeout = reloadTimeoutMs, strictReload = false } = options
  if (watch.length === 0 && !reloadable) return {}
  const tapes = tapesFolder(options.out, io)
  return { reload: { watch, cwd: io.cwd, tapes, timeoutMs: reloadTimeout, strict: strictReload } }
}

function redactionOf(options: RecordOptions, io: Io): Redaction {
  const { redact, redactFile, redactDefaults = true, tagKey } = options
  const common = {
    defaults: redactDefaults,
    ...(redact && { patterns: redact }),
    ...(tagKey !== undefined && { tagKey: readTagKey(resolve(io.cwd, tagKey)) }),
  }
  if (redactFile === undefined) return common
  if (isNamedPipe(resolve(io.cwd, redactFile)))
    throw new WiretapeError('unreadable', `cannot read ${redactFile}: it is a pipe`, { hint: 'name a file' })
  let text: string
  try {
    text = readFileSync(resolve(io.cwd, redactFile), 'utf8')
  } catch (cause) {
    throw new WiretapeError('unreadable', `cannot read ${redactFile}: ${readReason(cause)}`, { cause })
  }
  return { ...common, file: { name: redactFile, text } }
}

/**
 * While recording, stderr is the server's: print one line at the end, on trouble or for a reader.
 *
 * @param server name, if there may be several
 */
export async function conclude(
  result: CaptureFiles & { readonly notStarted?: string },
  options: RecordOptions,
  io: Io,
  server?: string,
): Promise<void> {
  const { tape } = result
  if (result.unrecorded !== undefined) return concludeUnrecorded(result, options, io, server)
  const path = tape.paths.at(-1) ?? 'no file'
  if (result.notStarted !== undefined) {
    return io.complain(result.notStarted, `nothing was recorded; the reason is in ${path}`)
  }
  if (result.sessionTrouble !== undefined) {
    const hint = `wiretape convert ${path} FILE.json writes it again`
    await io.complain(`the session file is not complete: ${result.sessionTrouble}`, hint)
  }
  if (result.notHeld !== undefined) await io.complain(result.notHeld)
  if (result.rulesFault !== undefined)
    await io.complain(
      `the previous rules stayed in force: ${result.rulesFault}`,
      'check the file with wiretape rules check',
    )
  if (result.telemetry) await concludeTelemetry(result.telemetry, io)
  if (options.redactReport) await reportRedaction(tape.redacted, io)
  const troubled = tape.trouble !== undefined || tape.lost > 0
  if (!troubled && (options.quiet === true || !hasAudience())) return
  const countOf = await counting()
  if (!troubled)
    return io.complain(
      `recorded ${countOf(tape.messages, 'message')}${server === undefined ? '' : ` of ${server}`} to ${path}`,
    )
  const lost = tape.lost > 0 ? `${countOf(tape.lost, 'message')} passed unrecorded` : 'the tape is incomplete'
  return io.complain(`${lost}: ${tape.trouble ?? 'see the gaps on the tape'}`, path)
}

/** An unreadable policy was reported at the start; a refusal by policy is shown only to a person. */
async function concludeUnrecorded(
  result: CaptureFiles & { readonly notStarted?: string },
  options: RecordOptions,
  io: Io,
  server: string | undefined,
): Promise<void> {
  if (result.notStarted !== undefined) return io.complain(result.notStarted)
  if (result.notHeld !== undefined) await io.complain(result.notHeld)
  if (options.quiet === true || !hasAudience()) return
  await io.complain(
    `nothing${server === undefined ? '' : ` of ${server}`} was recorded: ${result.unrecorded ?? ''}`,
  )
}

/** Allows a summary even if wiretape was updated during the recording. */
async function counting(): Promise<(count: number, noun: string) => string> {
  const plainly = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
  return import('../../render/index.js').then(
    ({ countOf }) => countOf,
    () => plainly,
  )
}

async function reportRedaction(redacted: readonly RuleCount[], io: Io): Promise<void> {
  const countOf = await counting()
  const total = redacted.reduce((sum, { count }) => sum + count, 0)
  const rules = redacted.map(({ rule, count }) => `${rule} ${count}`).join(', ')
  await io.complain(`redacted ${countOf(total, 'value')}${rules === '' ? '' : `: ${rules}`}`)
}
