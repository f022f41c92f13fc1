import {
  collectReport,
  createLatencies,
  reportKinds,
  zeroCounts,
  type ComparisonSummary,
  type ExchangeComparison,
} from '../../compare/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeText } from '../../render/index.js'
import { createWithoutSecrets, type OpenServer } from '../../replay/index.js'
import { checkAnswer, type SavedServer } from '../../saved-calls/index.js'
import { exchangeLines, summaryLine, type Layout } from '../compare/print.js'
import { exitCode } from '../exit-codes.js'
import { parseHeader } from '../header-option.js'
import { parseHttpUrl } from '../http-url-option.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { createCounter } from '../progress.js'
import { printPieces, wantedReports, writeReports } from '../report-files.js'
import { parseVariables, readSavedCalls, savedFiles, type FiledCall } from '../saved/saved-files.js'
import { createConnections, keyOf, reachServers, type NamedServer } from '../saved/saved-servers.js'

export interface RunCallsOptions {
  readonly var?: readonly string[]
  readonly url?: string
  /** `Name: value` */
  readonly header?: readonly string[]
  /** Folder. */
  readonly record?: string
  /** Milliseconds. */
  readonly timeout: number
  readonly all?: boolean
  readonly report?: readonly string[]
  readonly json?: boolean
  /** Name of the only call to make. */
  readonly only?: string
  /**
   * Decides about the servers before the first one is started or reached; throws to refuse.
   *
   * @param secrets values that must not be displayed
   */
  readonly permit?: (servers: readonly NamedServer[], secrets: readonly string[]) => Promise<void>
  /** Ends it like Ctrl-C. */
  readonly signal?: AbortSignal
}

/** Shorter secrets occur in every text; redacting them would leave it unreadable. */
const shortestSecret = 4

/** Makes the calls of files and checks the responses. */
export async function runCalls(
  named: readonly string[],
  command: readonly string[],
  options: RunCallsOptions,
  io: Io,
): Promise<number> {
  const instead = serverOf(command, options)
  const files = await savedFiles(named, io)
  const given = parseVariables(options.var ?? [])
  const used = { names: new Set<string>(), secrets: new Set<string>() }
  const read = await readSavedCalls(files, { given, env: process.env }, used, io)
  if (!read) return exitCode.usage
  const { only } = options
  const calls = only === undefined ? read : read.filter(({ name }) => name === only)
  checkUse(calls, given, used.names, instead)
  const wanted = await wantedReports(options.report, reportKinds, files, io)
  const secrets = [...used.secrets, ...(instead?.secrets ?? [])].filter(
    ({ length }) => length >= shortestSecret,
  )
  const withoutSecrets = createWithoutSecrets(undefined, secrets)
  const servers = calls.map(({ server }) => instead?.server ?? server!)
  const { reached, close } = await reachServers(
    servers,
    options.record === undefined ? undefined : { folder: options.record, secrets },
    io,
  )
  const interrupt = onInterrupt(options.signal)
  const connections = createConnections(reached, { timeoutMs: options.timeout, signal: interrupt.signal })
  try {
    await options.permit?.([...reached.values()], secrets)
    const quiet = options.json === true
    const layout: Layout = { style: createStyle(io.colours), columns: io.columns }
    const labels = [...reached.values()].map(({ label }) => withoutSecrets(label))
    const after = labels.length === 1 ? labels[0]! : countOf(labels.length, 'server')
    const report = collectReport(withoutSecrets({ before: named.join(' '), after }))
    const tally = createTally()
    const count = createCounter(calls.length, 'calls')
    const unsent = new Map<string, number>()
    let isUnreachable = false
    for (const [i, call] of calls.entries()) {
      const key = keyOf(servers[i]!)
      const label = withoutSecrets(reached.get(key)!.label)
      const server = await connections.open(key)
      if ('error' in server) isUnreachable = true
      const exchange = withoutSecrets(await makeCall(call, i + 1, server, interrupt.signal))
      count(i + 1, call.name)
      tally.take(exchange)
      report.take(exchange)
      if (exchange.verdict === 'not sent') {
        const why = `${label}: ${exchange.notes?.[0] ?? ''}`
        unsent.set(why, (unsent.get(why) ?? 0) + 1)
      } else if (!quiet && (options.all || exchange.verdict !== 'same')) {
        await io.write(exchangeLines(exchange, layout))
        // A person may be watching.
        await io.flush()
      }
    }
    const summary = tally.summary()
    const collected = report.finish(summary)
    if (quiet) await printPieces(reportKinds['json']!(collected), io)
    else await io.write(summaryLine(summary, layout))
    await writeReports(wanted, collected, io)
    if (interrupt.signal.aborted) return interrupt.exitCode()
    for (const [why, number] of unsent) await io.complain(`${countOf(number, 'call')} not sent to ${why}`)
    return isUnreachable ? exitCode.usage : summary.same ? exitCode.done : exitCode.found
  } finally {
    interrupt.close()
    await connections.close()
    await close()
  }
}

/** The server of the command line, with its secrets. */
function serverOf(
  command: readonly string[],
  { url, header = [] }: RunCallsOptions,
): { readonly server: SavedServer; readonly secrets: readonly string[] } | undefined {
  const wrong = (message: string, hint: string): WiretapeError =>
    new WiretapeError('usage', message, { hint })
  if (url !== undefined && command.length > 0)
    throw wrong('--url and a command cannot be combined', 'name one server')
  if (header.length > 0 && url === undefined) throw wrong('--header needs --url', 'add --url')
  if (command.length > 0) return { server: { command, env: {} }, secrets: [] }
  if (url === undefined) return undefined
  parseHttpUrl(url, '--url')
  const headers = header.map((text) => parseHeader(text, process.env))
  return {
    server: { url, headers: headers.map(({ name, value }) => [name, value] as const) },
    secrets: headers.flatMap(({ secrets }) => secrets).filter((secret) => secret !== ''),
  }
}

function checkUse(
  calls: readonly FiledCall[],
  given: ReadonlyMap<string, string>,
  used: ReadonlySet<string>,
  instead: unknown,
): void {
  const lost = instead ? undefined : calls.find(({ server }) => !server)
  if (lost)
    throw new WiretapeError('usage', `${escapeText(lost.file)}, line ${lost.line}: the call has no server`, {
      hint: 'add server: to the file, --url URL, or -- COMMAND',
    })
  const unused = [...given.keys()].find((name) => !used.has(name))
  if (unused !== undefined)
    throw new WiretapeError('usage', `--var ${unused}: no call uses this variable`, {
      hint: `write \${${unused}} where its value belongs`,
    })
}

/** @param number of the call among all calls made */
async function makeCall(
  call: FiledCall,
  number: number,
  server: OpenServer | { readonly error: string },
  signal: AbortSignal,
): Promise<ExchangeComparison> {
  const { file, line, name, method, params, subject, expect } = call
  const about = {
    call: { file, line, name },
    method,
    direction: 'client_to_server' as const,
    ...(subject !== undefined && { name: subject }),
  }
  const none = { differences: [], more: 0, schemaFaults: [] }
  const gone = 'error' in server ? server.error : server.ended
  if (gone !== undefined || signal.aborted)
    return { ...about, ...none, params, verdict: 'not sent', notes: [gone ?? 'the run was stopped'] }
  const startedAtMs = performance.now()
  const outcome = await (server as OpenServer).ask({ method, params })
  const latencyUs = Math.round((performance.now() - startedAtMs) * 1000)
  if ('error' in outcome) {
    const verdict = signal.aborted ? 'not sent' : 'timed out'
    return { ...about, ...none, params, verdict, notes: [outcome.error] }
  }
  const { failure, ...checked } = checkAnswer(outcome.answer, expect)
  const after = { seq: number, latencyUs, ...(failure !== undefined && { failure }) }
  return { ...about, ...(checked.verdict !== 'same' && { params }), after, schemaFaults: [], ...checked }
}

function createTally(): { take(exchange: ExchangeComparison): void; summary(): ComparisonSummary } {
  const counts = zeroCounts()
  const latencies = createLatencies()
  let total = 0
  return {
    take({ verdict, method, name, direction, after }) {
      counts[verdict] += 1
      total += 1
      const subject = { method, direction, ...(name !== undefined && { name }) }
      latencies.add(subject, undefined, after?.latencyUs)
    },
    summary: () => ({ counts, offers: [], latency: latencies.list(), same: counts.same === total }),
  }
}
