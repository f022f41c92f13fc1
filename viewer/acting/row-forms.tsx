import { isFrameRecord } from '../../src/model/index.js'
import { useEffect, useState } from 'preact/hooks'
import { countOf, formatCount, formatDuration, indentJson } from '../../src/render/index.js'
import { JsonObject, kindAt, readWritten } from '../../src/wire/index.js'
import type { Success } from '../../src/control-schema/index.js'
import { Later } from '../shell/views.js'
import type { Detail } from '../worker/protocol.js'
import { useCalledSchema } from './called-schema.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { TextForm, tried } from './held-forms.js'
import { Listed } from './listed.js'
import { channel, wordsOf } from './state.js'
import { Whole } from './whole.js'

/** Maximum number of copies of a request sent at once. */
const mostTimes = 50
/** Different responses drawn at once. */
const responsesAtOnce = 10

interface Said {
  readonly message: string | undefined
  readonly text: string
}

/** UUID and exact text of a row's message. */
export function saidBy({ record, part }: Detail): Said {
  if (!isFrameRecord(record)) return { message: undefined, text: '' }
  const { id, start, end } = record.parts[part]!
  return { message: id, text: record.raw.slice(start, end) }
}

export function NoteForm({ row }: { readonly row: number }) {
  return (
    <FormBox title="Add note">
      <TextForm
        label="Note about this message"
        start=""
        verb="Add"
        rows={3}
        submit={async (written) => {
          const text = written.trim()
          if (text === '') return 'the note is empty'
          const { message } = saidBy(await door.detail(row))
          return tried({ type: 'annotate', text, ...(message !== undefined && { message }) })
        }}
      />
    </FormBox>
  )
}

interface Outcome {
  readonly answer?: string
  readonly latencyMs?: number
  readonly fault?: string
}

export function AgainForm({ row }: { readonly row: number }) {
  const [request, setRequest] = useState<Said | undefined>(undefined)
  const [before, setBefore] = useState<string | undefined>(undefined)
  const [times, setTimes] = useState(1)
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  useEffect(() => {
    const facts = door.rowFacts(row)
    void door.detail(facts.request).then((detail) => setRequest(saidBy(detail)))
    if (facts.answer >= 0) void door.detail(facts.answer).then((detail) => setBefore(saidBy(detail).text))
  }, [row])
  const schema = useCalledSchema(request?.text ?? '{}')
  if (!request || schema === undefined) return <FormBox title="Send again">Reading the request…</FormBox>
  const { message, text: original } = request
  return (
    <FormBox title="Send again">
      <label class="act-times">
        Times{' '}
        <input
          type="number"
          min={1}
          max={mostTimes}
          value={times}
          onInput={({ currentTarget }) => setTimes(Number(currentTarget.value))}
        />
      </label>
      <TextForm
        label="Request as JSON; its id is replaced"
        schema={schema}
        start={indentJson(original)}
        verb="Send"
        rows={10}
        submit={async (written) => {
          if (message === undefined)
            return 'this request cannot be sent again: the recording has no message ids'
          if (!Number.isInteger(times) || times < 1 || times > mostTimes)
            return `Times must be between 1 and ${mostTimes}`
          const read = readWritten(written, 'message')
          if ('fault' in read) return read.fault
          const isSame = indentJson(read.text) === indentJson(original)
          const sent = Array.from({ length: times }, () => sendOnce(message, isSame ? undefined : read.text))
          setOutcomes(await Promise.all(sent))
          // The form stays open: the responses are shown below.
          return ''
        }}
      />
      {outcomes.length > 0 && <Outcomes outcomes={outcomes} before={before} />}
    </FormBox>
  )
}

async function sendOnce(message: string, text: string | undefined): Promise<Outcome> {
  try {
    const { answer, latencyMs }: Success =
      (await channel.value?.send({ type: 'replay', message, ...(text !== undefined && { text }) })) ?? {}
    return { ...(answer !== undefined && { answer }), ...(latencyMs !== undefined && { latencyMs }) }
  } catch (error) {
    return { fault: wordsOf(error) }
  }
}

/** Equal responses are shown once, with their count and latency; others with their differences. */
function Outcomes(props: { readonly outcomes: readonly Outcome[]; readonly before: string | undefined }) {
  const { outcomes, before } = props
  const groups = new Map<string, Outcome[]>()
  for (const outcome of outcomes) {
    const key = outcome.fault ?? contentOf(outcome.answer ?? '')
    const alike = groups.get(key)
    if (alike) alike.push(outcome)
    else groups.set(key, [outcome])
  }
  const ordered = [...groups].toSorted(([, one], [, other]) => other.length - one.length)
  const most = ordered.find(([, [first]]) => first!.fault === undefined)?.[0]
  const base: Base | undefined =
    before !== undefined
      ? { content: contentOf(before), name: 'recorded' }
      : most === undefined
        ? undefined
        : { content: most, name: 'most frequent' }
  return (
    <section class="act-answers" aria-label="Responses" aria-live="polite">
      {outcomes.length > 1 && (
        <p class="quiet">
          {groups.size === 1 ? 'The same response' : countOf(groups.size, 'different response')} to{' '}
          {formatCount(outcomes.length)} requests
        </p>
      )}
      <Listed
        all={ordered}
        atOnce={responsesAtOnce}
        noun="response"
        draw={([content, alike]) => (
          <Alike key={content} content={content} alike={alike} of={outcomes.length} base={base} />
        )}
      />
    </section>
  )
}

/** The response with which others are compared. */
interface Base {
  readonly content: string
  readonly name: 'recorded' | 'most frequent'
}

function Alike(props: {
  readonly content: string
  readonly alike: readonly Outcome[]
  readonly of: number
  readonly base: Base | undefined
}) {
  const { content, alike, of, base } = props
  const isSame = content === base?.content
  const isFault = alike[0]!.fault !== undefined
  const words = isFault
    ? 'failed'
    : base?.name !== 'recorded'
      ? isSame || of === 1
        ? 'answered'
        : 'different response'
      : isSame
        ? 'same response as before'
        : 'different response'
  const took = alike.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs]))
  const differs = !isFault && base !== undefined && !isSame
  return (
    <article>
      <h3>
        {of > 1 && `${alike.length} of ${of}: `}
        {words}
        {took.length > 0 && ` after ${spanOf(took)}`}
      </h3>
      {differs && (
        <Later part="Differences" of={{ left: base.content, right: content, names: [base.name, 'now'] }} />
      )}
      {isFault ? (
        <Whole text={content} />
      ) : (
        <details open={!differs}>
          <summary>JSON</summary>
          <Whole text={content} />
        </details>
      )}
    </article>
  )
}

function spanOf(tookMs: readonly number[]): string {
  const sorted = tookMs.toSorted((one, other) => one - other)
  const [least, median, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!].map((ms) =>
    formatDuration(ms * 1000),
  )
  return least === most ? least! : `${least} to ${most}, median ${median}`
}

/** The result or error of a response, without its id. */
export function contentOf(answer: string): string {
  if (kindAt(answer, 0) !== 'object') return answer
  const object = new JsonObject(answer, 0)
  const content = object.raw('result') ?? object.raw('error') ?? answer
  return indentJson(content)
}
