import { jsonIn } from '../wire/index.js'
import { diffJson, type JsonDiff } from './json-diff.js'
import { requestHashes } from './recording-index.js'
import { rulesFor, type CompareSettings } from './settings.js'
import { createTolerance } from './tolerance.js'
import type { Asked } from './verdict.js'
import type { AnswerText } from './answer-text.js'

/** Identity of the sender, tracing, and ids that are valid in one run only. */
const notAsked: ReadonlySet<string> = new Set([
  '/jsonrpc',
  '/id',
  ...[
    'progressToken',
    'traceparent',
    'tracestate',
    'baggage',
    'io.modelcontextprotocol~1related-task/taskId',
  ].map((name) => `/params/_meta/${name}`),
])

const none: JsonDiff = { differences: [], more: 0 }

/** As `compareOneWay`; with a rules file, also counts the differences it hides. */
export function compareQuestions(
  before: AnswerText,
  after: AnswerText,
  asked: Pick<Asked, 'method' | 'name'>,
  settings: CompareSettings,
): JsonDiff {
  const compared = compareOneWay(before, after, asked, settings)
  const { file } = settings
  const sizeOf = ({ differences, more }: JsonDiff): number => differences.length + more
  if (file)
    file.hidden += Math.max(0, sizeOf(compareOneWay(before, after, asked, file.without)) - sizeOf(compared))
  return compared
}

/**
 * Compares a server's requests. Rules apply here too, from the root of the request: `$.params.message`. At level
 * `schema`, content is not compared.
 */
function compareOneWay(
  before: AnswerText,
  after: AnswerText,
  { method, name }: Pick<Asked, 'method' | 'name'>,
  settings: CompareSettings,
): JsonDiff {
  if (settings.level === 'schema') return none
  const isExact = settings.level === 'exact'
  if (!isExact) {
    // Equal in meaning; progress tokens and the like always differ.
    const [a, b] = [requestHashes(before.text, method), requestHashes(after.text, method)]
    if (a[0] === b[0] && a[1] === b[1]) return none
  }
  const [a, b] = [jsonIn(before.text), jsonIn(after.text)]
  if (!a || !b) return none
  const tolerance = createTolerance(
    { text: before.text, span: a, redacted: before.redacted ?? [] },
    { text: after.text, span: b, redacted: after.redacted ?? [] },
    rulesFor(settings, method, name),
    notAsked,
  )
  return diffJson(before.text, a, after.text, b, { exact: isExact, tolerance })
}
