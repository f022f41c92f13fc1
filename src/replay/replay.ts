import { resolve } from 'node:path'
import {
  detailsOf,
  describeOffer,
  ignoreRule,
  isNote,
  matchRule,
  withFile,
  titleOf,
  type CompareSettings,
  type ExchangeComparison,
  type OfferChange,
  type SubjectLatency,
  type Verdict,
} from '../compare/index.js'
import { parseFilter, type Filter } from '../filter/index.js'
import { compilePath, QueryFault } from '../json-path/index.js'
import { checkPath, WiretapeError } from '../model/index.js'
import { OpenRecords, openSegments } from '../tape/index.js'
import { checkOptions, checkTarget } from './check-options.js'
import { readCompareFile, readCompareFileOf } from './compare-file.js'
import type { SetValue } from './live-values.js'
import { narrowSets } from './narrow-sets.js'
import type { MessageOutcome } from './outcome.js'
import { keptBytes, planReplay } from './plan.js'
import { runReplay } from './run-replay.js'
import { settleSecrets } from './settle-secrets.js'
import { connectTo, type ReplayTarget } from './target.js'
import type { ReplayOptions } from './replay-options.js'

/** The differences between a live server's responses and the recorded ones. */
export interface ReplayResult {
  /** No difference that counts. */
  readonly same: boolean
  /** One text for each exchange and offer that differs, and why the run stopped, for a test to print; empty if same. */
  readonly differences: readonly string[]
  /** Why it ended early: the server died or refused the handshake, or the replay was aborted. */
  readonly stopped?: string
  /** Other facts for a person, such as server output that is not a message; never a difference. */
  readonly notes?: readonly string[]
  /** Exchanges by verdict. */
  readonly counts: Readonly<Record<Verdict, number>>
  /** Every exchange, in the order of the recording; the server's own requests in the order of arrival. */
  readonly exchanges: readonly ExchangeComparison[]
  /** Changes in the server's offers. */
  readonly offers: readonly OfferChange[]
  /** By tool and method; microseconds. */
  readonly latency: readonly SubjectLatency[]
  /** Every message of the recorded client, with exact texts. */
  readonly messages: readonly MessageOutcome[]
}

/**
 * Acts as the client of a recording, once, and compares the responses of a live server.
 *
 * ```ts
 * const result = await replay('baseline.jsonl', { command: ['node', 'server.js'] })
 * expect(result.differences).toEqual([])
 * ```
 *
 * @param recording path of a recording of any format; for a rotated one any segment, since all of them are read
 * @throws WiretapeError before anything is sent: `unreadable`, `not-a-recording`; `usage` for invalid options, a server
 *   that cannot be started or reached, and redacted values that `set` does not give
 */
export async function replay(
  recording: string,
  target: ReplayTarget,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  checkPath('recording', recording)
  checkOptions(options)
  checkTarget(target)
  const path = resolve(recording)
  const settings = await settingsOf(path, options)
  const given = Object.entries(options.set ?? {}).map(([at, value]) => setOf(at, value))
  connectTo(target)
  const records = new OpenRecords(await openSegments(path), { keptBytes })
  try {
    const whole = await planReplay(records, recording, () => undefined, filterOf(options.filter))
    const narrowed = await narrowSets(whole, given)
    const settled = await settleSecrets(whole, narrowed, process.env, options.strictSecrets)
    const { plan, sets, secrets } = settled
    const connect = connectTo(
      'url' in target && plan.transport === 'sse' ? { transport: 'sse', ...target } : target,
    )
    const exchanges: ExchangeComparison[] = []
    const messages: MessageOutcome[] = []
    const run = {
      timeoutMs: options.timeoutMs ?? 10_000,
      handshake: options.handshake ?? true,
      unanswered: options.unanswered ?? 'error',
      concurrency: options.concurrency ?? 'one',
      speed: options.speed ?? Infinity,
      sets,
      secrets,
      settings,
      signal: options.signal ?? new AbortController().signal,
    }
    const result = await runReplay(plan, connect, run, {
      outcome(outcome) {
        messages.push(outcome)
        if (outcome.comparison) exchanges.push(outcome.comparison)
      },
      question: (comparison) => void exchanges.push(comparison),
    })
    if (result.unreachable) throw new WiretapeError('usage', result.stopped ?? 'cannot reach the server')
    const { same, stopped, counts, offers, latency } = result
    const notes = [...settled.notes, ...(result.notes ?? [])]
    const differences = [
      ...(stopped === undefined ? [] : [`stopped: ${stopped}`]),
      ...exchanges
        .filter(({ verdict }) => verdict !== 'same' && verdict !== 'not sent')
        .map((exchange) =>
          [`${exchange.verdict}: ${titleOf(exchange)}`, ...detailsOf(exchange)].join('\n  '),
        ),
      ...offers.filter((offer) => !isNote(offer)).map((offer) => `${offer.impact}: ${describeOffer(offer)}`),
    ]
    return {
      same,
      differences,
      ...(notes.length > 0 && { notes }),
      ...(stopped !== undefined && { stopped }),
      counts,
      exchanges,
      offers,
      latency,
      messages,
    }
  } finally {
    await records.close()
  }
}

async function settingsOf(
  path: string,
  { level, ignore = [], match = {}, compareFile }: ReplayOptions,
): Promise<CompareSettings> {
  const file =
    compareFile === false
      ? undefined
      : compareFile === undefined
        ? await readCompareFileOf(path)
        : await readCompareFile(resolve(compareFile))
  const own = understood(() => [
    ...ignore.map((at) => ignoreRule(at)),
    ...Object.entries(match).map(([at, matcher]) => matchRule(at, matcher)),
  ])
  return withFile({ level, rules: own }, file)
}

function setOf(at: string, value: unknown): SetValue {
  return { path: understood(() => compilePath(at)), name: at, json: jsonOf(at, value) }
}

/** A missing environment variable is `undefined`. The recorded value must not silently replace it. */
function jsonOf(at: string, value: unknown): string {
  try {
    const json = JSON.stringify(value) as string | undefined
    if (json !== undefined) return json
  } catch {
    // The value contains itself, or a BigInt.
  }
  const what = value === undefined ? 'undefined' : `not a JSON value (${typeof value})`
  throw new WiretapeError('usage', `set: the value for ${at} is ${what}`)
}

function filterOf(text: string | undefined): Filter | undefined {
  if (text === undefined) return undefined
  const parsed = parseFilter(text, { findings: 'refused' })
  if (parsed.filter) return parsed.filter
  throw new WiretapeError('usage', `the filter, column ${parsed.fault.column}: ${parsed.fault.message}`)
}

function understood<T>(make: () => T): T {
  try {
    return make()
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    throw new WiretapeError('usage', `invalid path or matcher: it ${problem.message}`, {
      hint: problem.advice,
    })
  }
}
