import { jsonIn, JsonObject, type Span } from '../wire/index.js'
import { isTooDeep } from './canonical-json.js'
import { isFailure, startOf } from './failure.js'
import { diffJson, type Difference, type JsonDiff } from './json-diff.js'
import { offeredPlaces } from './offered-places.js'
import { checkSchema } from './schema-check.js'
import type { OutputSchemas } from './output-schemas.js'
import { rulesFor, type CompareSettings } from './settings.js'
import { diffShapes } from './shape.js'
import { passingPlaces } from './task-places.js'
import { withJsonInTexts } from './text-json.js'
import { createTolerance, type Varied } from './tolerance.js'
import type { VariedBetween } from './varying.js'
import type { AnswerText } from './answer-text.js'

/** Verdict on one exchange. */
export type Verdict =
  | 'same'
  | 'changed'
  /** A result became an error, or a result with `isError`. */
  | 'error now'
  | 'fixed now'
  /** Only in the old recording. */
  | 'missing'
  /** Only in the new recording. */
  | 'new'
  /** A response is missing that the old recording has. */
  | 'timed out'
  /** Not sent, or not completed: the server was gone, or the run was stopped. */
  | 'not sent'

export const verdicts: readonly Verdict[] = [
  'same',
  'changed',
  'error now',
  'fixed now',
  'missing',
  'new',
  'timed out',
  'not sent',
]

/** The request of compared responses. */
export interface Asked {
  readonly method: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string | undefined
  readonly outputSchemas?: OutputSchemas | undefined
  /** Request values that changed: the new one by the old one, as JSON texts. */
  readonly echoes?: ReadonlyMap<string, string> | undefined
  /** Detects values that every run generates. */
  readonly varying?: VariedBetween | undefined
}

type Differing<T> = readonly [T, ...T[]]

/** The verdict on two responses, with evidence: `changed` names at least one difference. */
export type AnswerComparison = Compared &
  (
    | { readonly verdict: Exclude<Verdict, 'changed'> }
    | { readonly verdict: 'changed'; readonly differences: Differing<Difference> }
    | { readonly verdict: 'changed'; readonly schemaFaults: Differing<string> }
  )

interface Compared extends JsonDiff {
  /** Schema violations in words: `/price is a string, not number`. */
  readonly schemaFaults: readonly string[]
  /** Violations that the old response had too: not a change. */
  readonly knownFaults?: readonly string[]
  /** Values that differ without counting as a difference. */
  readonly varied?: readonly Varied[]
}

const none: Compared = { differences: [], more: 0, schemaFaults: [] }

/** Members of the message envelope, and the responder's identity (2026-07-28): not part of the content. */
const envelopeMembers = ['/jsonrpc', '/id', '/result/_meta/io.modelcontextprotocol~1serverInfo'] as const

/** As `compareOneWay`; with a rules file, also counts the differences it hides. */
export function compareAnswers(
  before: AnswerText | undefined,
  after: AnswerText | undefined,
  asked: Asked,
  settings: CompareSettings,
): AnswerComparison {
  const compared = compareOneWay(before, after, asked, settings)
  const { file } = settings
  if (file)
    file.hidden += Math.max(0, sizeOf(compareOneWay(before, after, asked, file.without)) - sizeOf(compared))
  return compared
}

function sizeOf({ differences, more, schemaFaults }: AnswerComparison): number {
  return differences.length + more + schemaFaults.length
}

/** Compares two responses to a request. Undefined means no response; two missing responses are equal. */
function compareOneWay(
  before: AnswerText | undefined,
  after: AnswerText | undefined,
  asked: Asked,
  settings: CompareSettings,
): AnswerComparison {
  if (!before || !after) {
    if (!before && !after) return { verdict: 'same', ...none }
    if (!after) return { verdict: 'timed out', ...none }
    if (!isFailure(after.text)) return { verdict: 'fixed now', ...none }
    return { ...none, verdict: 'changed', differences: [{ kind: 'added', place: [], after: after.text }] }
  }
  if (before.text === after.text && settings.level !== 'schema') return { verdict: 'same', ...none }
  const [failedBefore, failsNow] = [isFailure(before.text), isFailure(after.text)]
  const diff = differences(before, after, asked, settings)
  if (failedBefore !== failsNow) return { verdict: failsNow ? 'error now' : 'fixed now', ...diff }
  const { differences: found, schemaFaults: faults } = diff
  if (isSome(found)) return { ...diff, verdict: 'changed', differences: found }
  if (isSome(faults)) return { ...diff, verdict: 'changed', schemaFaults: faults }
  return { ...diff, verdict: 'same' }
}

function isSome<T>(list: readonly T[]): list is Differing<T> {
  return list.length > 0
}

function differences(
  before: AnswerText,
  after: AnswerText,
  asked: Asked,
  settings: CompareSettings,
): Compared {
  const offered = settings.level === 'exact' ? [] : offeredPlaces(asked.method, before, after)
  const passing = passingPlaces(asked.method, before.text, after.text)
  const ignored = new Set([...envelopeMembers, ...offered, ...passing])
  const rules = rulesFor(settings, asked.method, asked.name)
  const [a, b] = settings.level === 'schema' ? [before, after].map(expanded) : [before, after]
  if (!a || !b) return none
  const [aSpan, bSpan] = [wholeOf(a.text), wholeOf(b.text)]
  const varied: Varied[] = []
  const tolerance = createTolerance(
    { text: a.text, span: aSpan, redacted: a.redacted ?? [] },
    { text: b.text, span: bSpan, redacted: b.redacted ?? [] },
    rules,
    ignored,
    asked.echoes,
    settings.level === 'semantic' && settings.varying !== false ? asked.varying : undefined,
    varied,
  )
  if (settings.level !== 'schema')
    return {
      ...diffJson(a.text, aSpan, b.text, bSpan, { exact: settings.level === 'exact', tolerance }),
      schemaFaults: [],
      ...(varied.length > 0 && { varied }),
    }
  return {
    ...diffShapes(a.text, aSpan, b.text, bSpan, tolerance),
    ...compareFaults(before, after, asked.outputSchemas),
  }
}

/** Validates tool results against the tool's schema. */
function compareFaults(
  before: AnswerText,
  after: AnswerText,
  schemas: OutputSchemas | undefined,
): Pick<Compared, 'schemaFaults' | 'knownFaults'> {
  const faults = schemas ? schemaFaults(after, schemas.after) : []
  if (!schemas || faults.length === 0) return { schemaFaults: faults }
  // The index of an array element does not count, as in shapes.
  const keyOf = (fault: string): string => fault.replaceAll(/\/\d+(?=[/ ])/g, '/*')
  const old = new Set(schemas.before === undefined ? [] : schemaFaults(before, schemas.before).map(keyOf))
  const [known, fresh] = [true, false].map((is) => faults.filter((fault) => old.has(keyOf(fault)) === is))
  return { schemaFaults: fresh!, ...(known!.length > 0 && { knownFaults: known! }) }
}

function schemaFaults({ text, redacted = [] }: AnswerText, outputSchema: string): string[] {
  const start = startOf(text)
  if (start === undefined || isFailure(text)) return []
  if (isTooDeep(outputSchema) || isTooDeep(text)) return ['nested too deeply to check against outputSchema']
  const content = new JsonObject(text, start).object('result')?.raw('structuredContent')
  if (content === undefined) return ['/result has no structuredContent, which outputSchema requires']
  const place = '/result/structuredContent'
  const unknown = redacted.filter((at) => at.startsWith(place)).map((at) => at.slice(place.length))
  return checkSchema(JSON.parse(outputSchema), JSON.parse(content), new Set(unknown)).map(
    ({ at, problem }) => `${place}${at} ${problem}`,
  )
}

function expanded({ text, redacted }: AnswerText): AnswerText {
  const start = startOf(text)
  return start === undefined
    ? { text }
    : { text: withJsonInTexts(text.slice(start)), ...(redacted && { redacted }) }
}

function wholeOf(text: string): Span {
  return jsonIn(text) ?? { start: 0, end: text.length }
}

export type { Difference }
