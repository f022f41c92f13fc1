import { alignRequests, type Alignment } from './align.js'
import { compareQuestions } from './compare-questions.js'
import type { JsonDiff } from './json-diff.js'
import { createKnownFaults, notesIn } from './known-faults.js'
import { createLatencies } from './latency.js'
import { compareOfferVersions, offerNotes } from './offers.js'
import type { OfferChange, OfferVersions } from './offer-change.js'
import { outputSchemasOf } from './output-schemas.js'
import { createOwnAnswers, ownAnswerNote, restartNotes } from './own-answers.js'
import { pairHandles } from './pair-handles.js'
import { pairRedacted } from './pair-redacted.js'
import { pairQuestions, requestOf } from './pair-requests.js'
import { marksOf, subjectAt, type RecordingIndex } from './recording-index.js'
import { fileMember, fileNotes, type CompareSettings } from './settings.js'
import { asksForTask } from './task-requests.js'
import { createVariedCounts } from './varied-counts.js'
import { createVarying, type RunSide } from './varying.js'
import { failureOf } from './failure.js'
import { compareAnswers, verdicts, type Asked, type Verdict } from './verdict.js'
import type { AnswerText } from './answer-text.js'
import type { ComparedRecording, ExchangeSide, ExchangeComparison, ComparisonSummary } from './comparison.js'

export class RecordingComparison {
  readonly #before: ComparedRecording
  readonly #after: ComparedRecording
  readonly #settings: CompareSettings
  readonly #reports: (before: number | undefined, after: number | undefined) => boolean
  readonly #tally: {
    take(compared: ExchangeComparison): void
    summary(offers: readonly OfferChange[], notes: readonly (readonly string[])[]): ComparisonSummary
  }
  #offers: readonly OfferVersions[] = []
  readonly #polls: { take(alignment: Alignment): void; isRepeated(of: RecordingIndex, row: number): boolean }
  readonly #varying = createVarying()
  /** All exchanges, equal ones included, in the order of the old recording. Iterate once. */
  readonly exchanges: AsyncIterable<ExchangeComparison> = this.#exchanges()

  /**
   * Compares requests and responses of two recordings; payloads are read on demand.
   *
   * @param reports whether the exchange of these requests is yielded and counted. Exchanges that are not are compared all
   *   the same, since the others may contain their ids. @default every exchange
   */
  constructor(
    before: ComparedRecording,
    after: ComparedRecording,
    settings: CompareSettings,
    reports: (before: number | undefined, after: number | undefined) => boolean = () => true,
  ) {
    this.#before = before
    this.#after = after
    this.#settings = settings
    this.#reports = reports
    this.#tally = createTally(settings)
    this.#polls = createPolls(before.index)
  }

  /** The summary's `offers` with their texts. Available after the exchanges. */
  offerVersions(): readonly OfferVersions[] {
    return this.#offers
  }

  /** Available after the exchanges. */
  summary(): ComparisonSummary {
    return this.#tally.summary(
      this.#offers.map(({ change }) => change),
      [
        restartNotes('in the old recording', this.#before.index.restarts),
        restartNotes('in the new recording', this.#after.index.restarts),
        offerNotes(this.#before.index.offers, this.#after.index.offers),
      ],
    )
  }

  async #compare(row: number | undefined, other: number | undefined): Promise<ExchangeComparison> {
    const subject = (row === undefined ? this.#after : this.#before).index
    const { method, name, direction } = subject.subjects[subject.subjectOf(row ?? other!)]!
    const [old, now] = [await sideOf(this.#before, row), await sideOf(this.#after, other)]
    const about = { method, direction, ...(name !== undefined && { name }) }
    const shown = {
      ...about,
      ...(old && { before: old.side }),
      ...(now && { after: now.side }),
    }
    const none = { differences: [], more: 0, schemaFaults: [] }
    const isUncounted = (of: RecordingIndex, request: number): boolean =>
      method === 'ping' ||
      this.#polls.isRepeated(of, request) ||
      (this.#settings.level !== 'exact' && isFurtherPage(of, request))
    if ((!old || !now) && isUncounted(subject, row ?? other!)) return { verdict: 'same', ...none, ...shown }
    if (!old || !now)
      return { verdict: old ? 'missing' : 'new', ...(await this.#paramsOf(row, other)), ...shown, ...none }
    const asked = {
      method,
      name,
      varying: this.#varying.between(runOf(this.#before, row!), runOf(this.#after, other!)),
      outputSchemas:
        this.#settings.level === 'schema' && method === 'tools/call'
          ? outputSchemasOf(this.#before.index.offers, this.#after.index.offers, name ?? '')
          : undefined,
    }
    // Whether a cancelled request gets a response is a race, not a change.
    const isRace = isCancelled(this.#before, row) && (!old.answer || !now.answer)
    const isOwn = old.isOwn || now.isOwn
    const answers =
      isRace || isOwn ? undefined : compareAnswers(old.answer, now.answer, asked, this.#settings)
    const question =
      direction === 'server_to_client' ? await this.#questionOf(row!, other!, { method, name }) : undefined
    if (question && question.differences.length > 0) {
      const [both, more] = [[...question.differences, ...(answers?.differences ?? [])], answers?.more ?? 0]
      const changed = { verdict: 'changed' as const, differences: both, more: question.more + more }
      return { ...none, ...changed, ...(await this.#paramsOf(row, other)), ...shown }
    }
    const known = {
      ...(isOwn && { notes: [ownAnswerNote] }),
      ...(answers?.knownFaults && { knownFaults: answers.knownFaults }),
      ...(answers?.varied && { varied: answers.varied }),
    }
    if (!answers || answers.verdict === 'same') return { verdict: 'same', ...none, ...known, ...shown }
    return { ...answers, ...(await this.#paramsOf(row, other)), ...shown }
  }

  async #questionOf(row: number, other: number, asked: Pick<Asked, 'method' | 'name'>): Promise<JsonDiff> {
    return compareQuestions(
      await answerText(this.#before, row),
      await answerText(this.#after, other),
      asked,
      this.#settings,
    )
  }

  async #paramsOf(row: number | undefined, other: number | undefined): Promise<{ params?: string }> {
    const { params } = await requestOf(row === undefined ? this.#after : this.#before, row ?? other!)
    return params ? { params: params.text } : {}
  }

  async *#exchanges(): AsyncGenerator<ExchangeComparison, void, undefined> {
    const alignment = alignRequests(this.#before.index, this.#after.index)
    await pairRedacted(this.#before, this.#after, alignment)
    if (this.#settings.varying !== false)
      await pairHandles(this.#before, this.#after, alignment, this.#varying.links, async (row, other) => {
        await this.#compare(row, other)
      })
    pairQuestions(this.#before.index, this.#after.index, alignment)
    this.#offers = compareOfferVersions(this.#before.index.offers, this.#after.index.offers, {
      partnerOf: (row) => alignment.partnerOf(row),
      last: true,
    })
    this.#polls.take(alignment)
    for (const { before: row, after: other } of alignment.pairs()) {
      const compared = await this.#compare(row, other)
      if (!this.#reports(row, other)) continue
      this.#tally.take(compared)
      yield compared
    }
  }
}

/** Sums up the exchanges that are reported. */
function createTally(settings: CompareSettings): {
  take(compared: ExchangeComparison): void
  summary(offers: readonly OfferChange[], notes: readonly (readonly string[])[]): ComparisonSummary
} {
  const counts = zeroCounts()
  const latencies = createLatencies()
  const knownFaults = createKnownFaults()
  const ownAnswers = createOwnAnswers()
  const variedCounts = createVariedCounts()
  return {
    take(compared) {
      const { method, name, direction, before: old, after: now } = compared
      const about = { method, direction, ...(name !== undefined && { name }) }
      latencies.add(about, old?.latencyUs, now?.latencyUs)
      counts[compared.verdict] += 1
      knownFaults.take(compared)
      ownAnswers.take(compared)
      variedCounts.take(compared)
    },
    summary: (offers, notes) => ({
      counts,
      ...fileMember(settings),
      ...variedCounts.member(),
      ...notesIn(fileNotes(settings), knownFaults.notes(), ownAnswers.notes(), ...notes),
      offers,
      latency: latencies.list(),
      same: verdicts.every((verdict) => verdict === 'same' || counts[verdict] === 0) && offers.every(isNote),
    }),
  }
}

/** Pagination is no difference: a list is compared as a whole, with its first page. */
function isFurtherPage({ offers }: RecordingIndex, request: number): boolean {
  const first = offers.listings.firstOf(request)
  return first !== undefined && first !== request
}

/** The number of polls for a task is no difference. */
function createPolls(index: RecordingIndex): {
  take(alignment: Alignment): void
  /** Whether a request without a partner is only an additional or a missing poll. */
  isRepeated(of: RecordingIndex, row: number): boolean
} {
  const paired = new Set<string>()
  const keyOf = (of: RecordingIndex, row: number): string => of.key(row).join(' ')
  const isPoll = (of: RecordingIndex, row: number): boolean => asksForTask(subjectAt(of, row).method)
  return {
    take(alignment) {
      if (!index.subjects.some(({ method }) => asksForTask(method))) return
      for (const { before, after } of alignment.pairs())
        if (before !== undefined && after !== undefined && isPoll(index, before))
          paired.add(keyOf(index, before))
    },
    isRepeated: (of, row) => isPoll(of, row) && (of.foundWorking(row) || paired.has(keyOf(of, row))),
  }
}

/** A changed offer that does not count as a difference. */
export function isNote({ impact }: OfferChange): boolean {
  return impact === 'note'
}

export function zeroCounts(): Record<Verdict, number> {
  return Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<Verdict, number>
}

interface LoadedSide {
  readonly side: ExchangeSide
  readonly answer: AnswerText | undefined
  /** The response came from the recorder or a person, not from the server. */
  readonly isOwn: boolean
}

async function sideOf(
  recording: ComparedRecording,
  row: number | undefined,
): Promise<LoadedSide | undefined> {
  if (row === undefined) return undefined
  const { index } = recording
  const { entries } = index
  const peer = entries.peer(row)
  if (peer < 0) return { side: { seq: entries.seq(row) }, answer: undefined, isOwn: false }
  const { locator, part } = index.place(peer)
  const record = await recording.read(locator)
  const { start, end } = record.parts[part]!
  const text = record.raw.slice(start, end)
  const failure = failureOf(text)
  const latencyUs = index.latencyUs(peer)
  return {
    side: {
      seq: entries.seq(row),
      answerSeq: entries.seq(peer),
      ...(latencyUs !== undefined && { latencyUs }),
      ...(failure !== undefined && { failure }),
    },
    answer: { text, redacted: marksOf(record, part).map(({ at }) => at) },
    isOwn: entries.has(peer, 'injected'),
  }
}

/** State of the run at the response to the request in this row. */
function runOf({ index }: ComparedRecording, row: number): RunSide {
  const peer = index.entries.peer(row)
  return index.runAt(peer < 0 ? row : peer)
}

function isCancelled({ index }: ComparedRecording, row: number | undefined): boolean {
  return row !== undefined && index.entries.has(row, 'cancelled')
}

/** The message in a row. */
async function answerText(recording: ComparedRecording, row: number): Promise<AnswerText> {
  const { locator, part } = recording.index.place(row)
  const record = await recording.read(locator)
  const { start, end } = record.parts[part]!
  return { text: record.raw.slice(start, end), redacted: marksOf(record, part).map(({ at }) => at) }
}
