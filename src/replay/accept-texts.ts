import type { Recording } from '../formats/index.js'
import type { MessageRecord, RedactionMark, TapeRecord } from '../model/index.js'
import { Redactor, redactionMarker } from '../redaction/index.js'
import { createTagger } from '../tape/index.js'
import { pointerSteps, readEnvelope, spliceText, valueAt, type TextEdit } from '../wire/index.js'
import { withoutGiven, type GivenValue } from './given-values.js'

/**
 * A recording in which texts of a new run replace recorded ones. Where the recording was redacted, secrets in the new
 * texts are redacted by the built-in rules, and so is every place that was redacted before; it keeps its tag.
 * Redacted messages of the client stay unchanged.
 *
 * @param texts exact texts by the number of the recorded message
 * @param redacted the recording was redacted
 * @param given values of `--set`; where the server repeats one, the recorded value is kept
 */
export function acceptTexts(
  recording: Recording,
  texts: ReadonlyMap<number, string>,
  redacted: boolean,
  given: readonly GivenValue[] = [],
): Recording {
  const tag = createTagger()
  const secrets = given.map((value) =>
    value.recorded === redactionMarker ? { tag: tag(value.value), ...value } : value,
  )
  const redactor = redacted ? new Redactor({ defaults: true, tag }) : undefined

  function accepted(record: MessageRecord, text: string): MessageRecord {
    const {
      red: before = [],
      bytes: _bytes,
      utf8: _utf8,
      modified: _modified,
      original: _original,
      ...rest
    } = record
    const own =
      record.direction === 'server_to_client' ? withoutGiven(text, secrets) : { text, marks: [] as const }
    const found = redactor?.json(own.text)
    const { raw, red } = alike(found?.raw ?? own.text, [...own.marks, ...(found?.red ?? [])], before)
    const { sizeBytes: _sizeBytes, ...part } = record.parts[0]!
    return {
      ...rest,
      raw,
      parts: [{ ...part, envelope: readEnvelope(raw, 0), start: 0, end: raw.length }],
      ...(red.length > 0 && { red }),
    }
  }

  async function* records(): AsyncGenerator<TapeRecord, void, undefined> {
    let next = 0
    for await (const record of recording.records()) {
      if (record.type !== 'message') {
        yield record
        continue
      }
      const seq = record.seq ?? next
      next = seq + record.parts.length
      const isKept = record.batch || (record.direction === 'client_to_server' && record.red !== undefined)
      const text = isKept ? undefined : texts.get(seq)
      yield text === undefined || text === record.raw ? record : accepted(record, text)
    }
  }
  return { records }
}

/** Redacts again the places that rules unknown to us redacted before; equal places keep their tags. */
function alike(
  text: string,
  red: readonly RedactionMark[],
  before: readonly RedactionMark[],
): { raw: string; red: RedactionMark[] } {
  const known = new Map(before.map((mark) => [mark.at, mark]))
  const kept = red.map((mark) => known.get(mark.at) ?? mark)
  const done = new Set(red.map(({ at }) => at))
  const edits: TextEdit[] = []
  for (const mark of known.values()) {
    if (done.has(mark.at)) continue
    const value = valueAt(text, 0, pointerSteps(mark.at))
    if (!value) continue
    edits.push({ start: value.start, end: value.end, text: JSON.stringify(redactionMarker) })
    kept.push(mark)
  }
  return {
    raw: spliceText(
      text,
      edits.toSorted((a, b) => a.start - b.start),
    ),
    red: kept,
  }
}
