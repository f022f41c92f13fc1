import type { RedactionMark } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  memberOf,
  membersOf,
  skipValue,
  spliceText,
  type Span,
  type TextEdit,
} from '../wire/index.js'

/** What is put in the place of recorded values, each as exact JSON text. */
export interface LiveValues {
  readonly id?: string | undefined
  readonly progressToken?: string | undefined
  /** Of a `notifications/cancelled`. */
  readonly requestId?: string | undefined
  readonly subscriptionId?: string | undefined
  /** For redacted values, by tag; what is undefined stays as it is. */
  readonly secret?: ((tag: string) => string | undefined) | undefined
}

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'

/** A recorded message with the ids of the present: every other character is the recorded one. */
export function toLiveText(text: string, marks: readonly RedactionMark[], live: LiveValues): string {
  const found = findJsonValue(text)
  if (isFault(found) || kindAt(text, found.start) !== 'object') return text
  const edits: TextEdit[] = []
  const put = (path: readonly string[], value: string | undefined): void => {
    const span = value === undefined ? undefined : placeOf(text, found.start, path)
    if (span && value !== undefined) edits.push({ start: span.start, end: span.end, text: value })
  }
  put(['id'], live.id)
  put(['params', 'progressToken'], live.progressToken)
  put(['params', 'requestId'], live.requestId)
  for (const part of ['params', 'result']) put([part, '_meta', subscriptionId], live.subscriptionId)
  if (live.secret) addSecrets(edits, text, found.start, marks, live.secret)
  edits.sort((a, b) => a.start - b.start)
  // A redacted token has been replaced by the live one already.
  return spliceText(
    text,
    edits.filter(({ start }, i) => i === 0 || start >= edits[i - 1]!.end),
  )
}

function addSecrets(
  edits: TextEdit[],
  text: string,
  root: number,
  marks: readonly RedactionMark[],
  secret: (tag: string) => string | undefined,
): void {
  /** Where the next marker of the same string is looked for. */
  const from = new Map<string, number>()
  for (const { at, tag } of marks) {
    const span = placeOf(text, root, stepsOf(at))
    if (!span || kindAt(text, span.start) !== 'string') continue
    const value = secret(tag)
    const start = text.indexOf(redactionMarker, from.get(at) ?? span.start)
    if (start < 0 || start >= span.end) continue
    from.set(at, start + redactionMarker.length)
    if (value === undefined) continue
    const isWhole = span.end - span.start === redactionMarker.length + 2
    if (isWhole) edits.push({ start: span.start, end: span.end, text: value })
    else if (value.startsWith('"'))
      edits.push({ start, end: start + redactionMarker.length, text: value.slice(1, -1) })
  }
}

/** Where the value at a path stands; of members with the same name the last counts. */
export function placeOf(text: string, root: number, path: readonly string[]): Span | undefined {
  let start = root
  let end = -1
  for (const step of path) {
    const kind = kindAt(text, start)
    const next: Span | undefined =
      kind === 'object'
        ? memberOf(membersOf(text, start), step)
        : kind === 'array'
          ? elementsOf(text, start)[Number(step)]
          : undefined
    if (!next) return undefined
    start = next.start
    end = next.end
  }
  return { start, end: end < 0 ? skipValue(text, start) : end }
}

/** The steps of a JSON Pointer. */
function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** A string member of the params of a message. */
export function stringParam(text: string, name: string): string | undefined {
  const found = findJsonValue(text)
  if (isFault(found)) return undefined
  const span = placeOf(text, found.start, ['params', name])
  return span && kindAt(text, span.start) === 'string' ? decodeString(text, span.start, span.end) : undefined
}
