import type { RedactionMark } from '../model/index.js'
import { restoreEdits } from '../redaction/index.js'
import { jsonObjectIn, kindAt, pointerSteps, spliceText, valueAt, type TextEdit } from '../wire/index.js'

/** Replacements for recorded values, each as exact JSON text. */
export interface LiveValues {
  readonly id?: string | undefined
  readonly progressToken?: string | undefined
  /** For a `notifications/cancelled`. */
  readonly requestId?: string | undefined
  readonly subscriptionId?: string | undefined
  /** Redacted values by tag; where undefined, the marker stays. */
  readonly secret?: ((tag: string) => string | undefined) | undefined
}

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'

/** A recorded message with live ids; every other character stays as recorded. */
export function toLiveText(text: string, marks: readonly RedactionMark[], live: LiveValues): string {
  const found = jsonObjectIn(text)
  if (!found) return text
  const edits: TextEdit[] = []
  const put = (path: readonly string[], value: string | undefined): void => {
    const span = value === undefined ? undefined : valueAt(text, found.start, path)
    if (span && value !== undefined) edits.push({ start: span.start, end: span.end, text: value })
  }
  put(['id'], live.id)
  put(['params', 'progressToken'], live.progressToken)
  put(['params', 'requestId'], live.requestId)
  for (const part of ['params', 'result']) put([part, '_meta', subscriptionId], live.subscriptionId)
  const { secret } = live
  if (secret) {
    for (const [at, tags] of tagsByPlace(marks)) {
      const span = valueAt(text, found.start, pointerSteps(at))
      if (span && kindAt(text, span.start) === 'string')
        edits.push(...restoreEdits(text, span, tags, secret).edits)
    }
  }
  edits.sort((a, b) => a.start - b.start)
  // A redacted token was already replaced by the live one.
  return spliceText(
    text,
    edits.filter(({ start }, i) => i === 0 || start >= edits[i - 1]!.end),
  )
}

function tagsByPlace(marks: readonly RedactionMark[]): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>()
  for (const { at, tag } of marks) {
    const tags = places.get(at)
    if (tags) tags.push(tag)
    else places.set(at, [tag])
  }
  return places
}
