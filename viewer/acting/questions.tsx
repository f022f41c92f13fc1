import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { Blocks } from '../json/blocks.js'
import { blocksIn } from '../json/content.js'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { createForm } from './form.js'
import { JsonArea } from './json-area.js'
import { kept } from './kept.js'
import { Listed } from './listed.js'
import { ForceButton, JsonSwitch, SchemaForm } from './schema-form.js'
import { answerQuestion, questions, type Question } from './session.js'
import { tell, wordsOf } from './state.js'
import { nameOf, Told } from './told.js'
import { listIn, objectIn, textIn } from './values.js'
import { WebLink } from './web-link.js'
import { Whole } from './whole.js'

const questionsAtOnce = 20
const blocksAtOnce = 100

/** The server's requests to its client, answered by the user. */
export function Questions() {
  return (
    <Listed
      all={questions.value}
      atOnce={questionsAtOnce}
      noun="request"
      draw={(one) => (
        <Boundary key={one.question} json={one.text} instead={<Refuse question={one.question} />}>
          <Asked question={one} />
        </Boundary>
      )}
    />
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
    <section class="act-asked" aria-label={`Request from the server: ${nameOf(method)}`}>
      <h3>Request from the server: {nameOf(method)}</h3>
      {method === 'sampling/createMessage' ? (
        <Sampling params={params} give={give} />
      ) : isElicitation && params['mode'] === 'url' ? (
        <ElicitedUrl params={params} give={give} />
      ) : isElicitation ? (
        <Elicited question={question} params={params} give={give} />
      ) : (
        <Other params={params} give={give} />
      )}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
    </section>
  )
}

/** The user answers instead of a model. */
function Sampling({ params, give }: Form) {
  const [words, setWords] = useState('')
  const [model, setModel] = useState('a person')
  const messages = listIn(params['messages'])
  const { systemPrompt, maxTokens } = params
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const content = { type: 'text', text: words }
        give(JSON.stringify({ result: { role: 'assistant', content, model, stopReason: 'endTurn' } }))
      }}
    >
      {typeof systemPrompt === 'string' && (
        <p class="quiet">
          System prompt: <Told text={systemPrompt} />
        </p>
      )}
      <Listed
        all={messages}
        atOnce={blocksAtOnce}
        noun="message"
        draw={(one, i) => <Turn key={i} {...objectIn(one)} />}
      />
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

function Turn({ role, content }: { readonly role?: unknown; readonly content?: unknown }) {
  return (
    <div class="act-turn">
      <b>{nameOf(textIn(role))}</b>
      <Blocks blocks={blocksIn({ content })} search="" />
    </div>
  )
}

const refusal = '{"error":{"code":-1,"message":"User rejected sampling request"}}'
const declined = '{"result":{"action":"decline"}}'
const cancelled = '{"result":{"action":"cancel"}}'
const refusals = [
  ['Decline', declined],
  ['Cancel', cancelled],
] as const

function Elicited({ question, params, give }: Form & { readonly question: string }) {
  const form = kept(`question ${question}`, () => createForm(params['requestedSchema']))
  const accept = (isForced = false): void => {
    const text = form.read(isForced)
    if (text !== undefined) give(`{"result":{"action":"accept","content":${text}}}`)
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        accept()
      }}
    >
      <p>
        <Told text={textIn(params['message'])} />
      </p>
      <SchemaForm form={form} label="Content as JSON" none="" submit={() => accept()} />
      <Decide verb="Accept" others={refusals} give={give}>
        <ForceButton form={form} verb="Accept" send={() => accept(true)} />
        <JsonSwitch form={form} />
      </Decide>
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
      <p>
        <Told text={textIn(params['message'])} />
      </p>
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
  readonly children?: ComponentChildren
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
      {props.children}
    </p>
  )
}
