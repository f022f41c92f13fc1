import { useState } from 'preact/hooks'
import { indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { argumentsOf, Field, schemaIn, startOf } from './fields.js'
import { JsonArea } from './json-area.js'
import { Content } from './said.js'
import { answerQuestion, questions, type Question } from './session.js'
import { tell, wordsOf } from './state.js'
import { listIn, objectIn, textIn } from './values.js'
import { WebLink } from './web-link.js'
import { Whole } from './whole.js'

/** The server's requests to its client, answered by the user. */
export function Questions() {
  return (
    <>
      {questions.value.map((one) => (
        <Boundary key={one.question} json={one.text} instead={<Refuse question={one.question} />}>
          <Asked question={one} />
        </Boundary>
      ))}
    </>
  )
}

/** The server need not wait for an answer to what cannot be shown. */
function Refuse({ question }: { readonly question: string }) {
  const refuse = (): void =>
    void answerQuestion(
      question,
      '{"error":{"code":-32603,"message":"the client cannot display this request"}}',
    ).catch((error: unknown) => tell(wordsOf(error), 'bad'))
  return (
    <button type="button" class="button small" onClick={refuse}>
      Reject
    </button>
  )
}

interface Form {
  readonly params: Readonly<Record<string, unknown>>
  /** @param text exact JSON of `result` or `error` */
  readonly give: (text: string) => void
}

function Asked({ question: { question, text } }: { readonly question: Question }) {
  const [fault, setFault] = useState('')
  const message = new JsonObject(text, 0)
  const method = message.string('method') ?? ''
  const params = objectIn(JSON.parse(message.raw('params') ?? '{}'))
  const give = (answer: string): void =>
    void answerQuestion(question, answer).catch((error: unknown) => setFault(wordsOf(error)))
  const isElicitation = method === 'elicitation/create'
  return (
    <section class="act-asked" aria-label={`Request from the server: ${clean(method)}`}>
      <h3>Request from the server: {clean(method)}</h3>
      {method === 'sampling/createMessage' ? (
        <Sampling params={params} give={give} />
      ) : isElicitation && params['mode'] === 'url' ? (
        <ElicitedUrl params={params} give={give} />
      ) : isElicitation ? (
        <Elicited params={params} give={give} />
      ) : (
        <Other params={params} give={give} />
      )}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
    </section>
  )
}

/** Of a conversation that is shown; the row of the request has all. */
const mostMessages = 100

/** The user answers instead of a model. */
function Sampling({ params, give }: Form) {
  const [words, setWords] = useState('')
  const [model, setModel] = useState('a person')
  const messages = listIn(params['messages']).slice(0, mostMessages).map(objectIn)
  const { systemPrompt, maxTokens } = params
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const content = { type: 'text', text: words }
        give(JSON.stringify({ result: { role: 'assistant', content, model, stopReason: 'endTurn' } }))
      }}
    >
      {typeof systemPrompt === 'string' && <p class="quiet">System prompt: {clean(systemPrompt)}</p>}
      {messages.map(({ role, content }, i) => (
        <div key={i} class="act-turn">
          <b>{clean(textIn(role))}</b>
          {(Array.isArray(content) ? content.slice(0, mostMessages) : [content]).map((block: unknown, j) => (
            <Content key={j} block={block} />
          ))}
        </div>
      ))}
      {typeof maxTokens === 'number' && <p class="quiet">Limit: {maxTokens} tokens.</p>}
      <label class="act-field">
        Model response
        <textarea
          class="act-text"
          rows={4}
          aria-label="Model response"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </label>
      <label class="act-field">
        Model name
        <input
          type="text"
          aria-label="Model name"
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
        />
      </label>
      <Decide verb="Answer" others={[['Reject', refusal]]} give={give} />
    </form>
  )
}

const refusal = '{"error":{"code":-1,"message":"User rejected sampling request"}}'
const declined = '{"result":{"action":"decline"}}'
const cancelled = '{"result":{"action":"cancel"}}'
const refusals = [
  ['Decline', declined],
  ['Cancel', cancelled],
] as const

function Elicited({ params, give }: Form) {
  const { properties, required } = schemaIn(params['requestedSchema'])
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => startOf(properties))
  const [fault, setFault] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const read = argumentsOf(properties, required, values)
        setFault('fault' in read ? read.fault : '')
        if ('text' in read) give(`{"result":{"action":"accept","content":${read.text}}}`)
      }}
    >
      <p>{clean(textIn(params['message']))}</p>
      {properties.map(([key, property]) => (
        <Field
          key={key}
          name={key}
          property={property}
          required={required.has(key)}
          value={values[key] ?? ''}
          change={(value) => setValues({ ...values, [key]: value })}
        />
      ))}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      <Decide verb="Accept" others={refusals} give={give} />
    </form>
  )
}

function ElicitedUrl({ params, give }: Form) {
  const url = textIn(params['url'])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        give('{"result":{"action":"accept"}}')
      }}
    >
      <p>{clean(textIn(params['message']))}</p>
      <p>
        <WebLink url={url} />
      </p>
      <Decide verb="Accept" others={refusals} give={give} />
    </form>
  )
}

function Other({ params, give }: Form) {
  const [text, setText] = useState('{\n  "result": {}\n}')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        give(text)
      }}
    >
      <Whole text={indentJson(JSON.stringify(params))} />
      <JsonArea
        label="Response as JSON: result or error"
        value={text}
        change={setText}
        rows={5}
        submit={() => give(text)}
      />
      <Decide verb="Answer" others={[]} give={give} />
    </form>
  )
}

function Decide(props: {
  readonly verb: string
  readonly others: readonly (readonly [name: string, answer: string])[]
  readonly give: (text: string) => void
}) {
  return (
    <p class="act-run">
      <button type="submit" class="button primary">
        {props.verb}
      </button>
      {props.others.map(([name, answer]) => (
        <button key={name} type="button" class="button" onClick={() => props.give(answer)}>
          {name}
        </button>
      ))}
    </p>
  )
}
