import { useEffect, useRef, useState } from 'preact/hooks'
import type { Success } from '../../src/control-schema/index.js'
import { indentJson } from '../../src/render/index.js'
import { readWritten } from '../../src/wire/index.js'
import { useCalledSchema } from './called-schema.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { TextForm } from './held-forms.js'
import { Outcomes, type Outcome } from './outcomes.js'
import { cancelInjected, newKey } from './peer.js'
import { progressOf } from './progress.js'
import { saidBy, type Said } from './row-forms.js'
import { Waiting } from './run.js'
import { channel, wordsOf } from './state.js'

/** Maximum number of copies of a request sent at once. */
const mostTimes = 50

/** Copies of a request that were sent together, by their keys. */
interface Round {
  readonly keys: readonly string[]
  readonly waiting: ReadonlySet<string>
}

/** Sends a recorded request again, perhaps changed and several times, and compares the responses. */
export function AgainForm({ row }: { readonly row: number }) {
  const [request, setRequest] = useState<Said | undefined>(undefined)
  const [before, setBefore] = useState<string | undefined>(undefined)
  const [times, setTimes] = useState(1)
  const [round, setRound] = useState<Round | undefined>(undefined)
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const isCancelled = useRef(false)
  useEffect(() => {
    const facts = door.rowFacts(row)
    void door.detail(facts.request).then((detail) => setRequest(saidBy(detail)))
    if (facts.answer >= 0) void door.detail(facts.answer).then((detail) => setBefore(saidBy(detail).text))
  }, [row])
  const schema = useCalledSchema()
  if (!request || schema === undefined) return <FormBox title="Send again">Reading the request…</FormBox>
  const { message, text: original, conversation } = request
  const send = async (text: string | undefined): Promise<void> => {
    const keys = Array.from({ length: times }, newKey)
    isCancelled.current = false
    setOutcomes([])
    setRound({ keys, waiting: new Set(keys) })
    const sent = keys.map(async (key) => {
      const outcome = await sendOnce({
        message: message!,
        requestId: key,
        ...(text !== undefined && { text }),
      })
      setRound((now) => now && { keys, waiting: new Set([...now.waiting].filter((one) => one !== key)) })
      return outcome.fault !== undefined && isCancelled.current ? { isCancelled: true } : outcome
    })
    const all = await Promise.all(sent)
    setRound(undefined)
    setOutcomes(all)
  }
  const cancel = (): void => {
    isCancelled.current = true
    for (const key of round?.waiting ?? []) void cancelInjected(key, conversation)
  }
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
          await send(indentJson(read.text) === indentJson(original) ? undefined : read.text)
          // The form stays open: the responses are shown below.
          return ''
        }}
      >
        {round && (
          <>
            <button type="button" class="button" onClick={cancel}>
              Cancel
            </button>
            <Waiting {...progressIn(round)} />
          </>
        )}
      </TextForm>
      {outcomes.length > 0 && <Outcomes outcomes={outcomes} before={before} />}
    </FormBox>
  )
}

/** The progress that the server reports of one request; of several, the number of responses. */
function progressIn({ keys, waiting }: Round): Parameters<typeof Waiting>[0] {
  const [only] = keys
  if (keys.length === 1) return { progress: progressOf(only!) }
  return { progress: { progress: keys.length - waiting.size, total: keys.length, message: 'responses' } }
}

async function sendOnce(request: {
  readonly message: string
  readonly requestId: string
  readonly text?: string
}): Promise<Outcome> {
  try {
    const { answer, latencyMs }: Success = (await channel.value?.send({ type: 'replay', ...request })) ?? {}
    return { ...(answer !== undefined && { answer }), ...(latencyMs !== undefined && { latencyMs }) }
  } catch (error) {
    return { fault: wordsOf(error) }
  }
}
