import { Blocks } from '../json/blocks.js'
import { blocksIn } from '../json/content.js'
import { clean } from '../shell/clean.js'
import { Link } from '../json/tree.js'
import type { StoryStep } from '../worker/protocol.js'
import { messageOf } from './story-facts.js'

type Json = Readonly<Record<string, unknown>>

/** A server's request to its client, and the response. */
export interface AskedThing {
  readonly method: string
  readonly params: Json
  readonly result?: Json
  readonly error?: Json
}

const longest = 2_000
const mostShown = 100

/** Whether a story is that of a request of the server to its client. */
export function isOfAsked(steps: readonly StoryStep[]): boolean {
  const head = steps.find(({ kind }) => kind === 'request')
  return head !== undefined && askedIn(head, steps).length > 0
}

/** Requests of the server in a step: the message itself, or those in an input-required result. */
export function askedIn(step: StoryStep, steps: readonly StoryStep[]): AskedThing[] {
  const message = messageOf(step.detail)
  if (!message) return []
  if (step.kind === 'asked' || step.kind === 'request') {
    const method = textOf(message['method'])
    // In its own story, the response is a step.
    const answer = step.kind === 'asked' ? step.answer : steps.find(({ kind }) => kind === 'answer')?.detail
    const reply = answer && messageOf(answer)
    if (!Object.hasOwn(shapes, method)) return []
    return [{ method, params: jsonOf(message['params']), ...answerIn(reply) }]
  }
  const requests = Object.entries(jsonOf(jsonOf(message['result'])['inputRequests'])).slice(0, mostShown)
  const later = steps.slice(steps.indexOf(step) + 1).filter(({ kind }) => kind === 'round')
  const responses = jsonOf(jsonOf(later[0] && messageOf(later[0].detail)?.['params'])['inputResponses'])
  return requests.flatMap(([name, value]) => {
    const { method, params } = jsonOf(value)
    const isKnown = typeof method === 'string' && Object.hasOwn(shapes, method)
    const reply = Object.hasOwn(responses, name) ? jsonOf(responses[name]) : undefined
    return isKnown ? [{ method, params: jsonOf(params), ...(reply && { result: reply }) }] : []
  })
}

function answerIn(reply: Json | undefined): Pick<AskedThing, 'result' | 'error'> {
  if (!reply) return {}
  return 'error' in reply ? { error: jsonOf(reply['error']) } : { result: jsonOf(reply['result']) }
}

/** The request and its response in a form suited to its method. */
export function Asked({ asked }: { readonly asked: AskedThing }) {
  const { error, result } = asked
  const Shape = shapes[asked.method as keyof typeof shapes]
  return (
    <div class="asked">
      <Shape {...asked} />
      {error && (
        <p class="failure">
          {cut(String(error['code']))} {cut(textOf(error['message']))}
        </p>
      )}
      {!error && !result && <p class="quiet">No response.</p>}
    </div>
  )
}

function Chat({ params, result }: AskedThing) {
  const messages = listOf(params['messages'])
  const prompt = textOf(params['systemPrompt'])
  return (
    <>
      {prompt !== '' && <Bubble role="system" content={{ type: 'text', text: prompt }} />}
      {messages.slice(0, mostShown).map((message, i) => {
        const { role, content } = jsonOf(message)
        return <Bubble key={i} role={textOf(role)} content={content} />
      })}
      {messages.length > mostShown && <p class="quiet">{messages.length - mostShown} more messages</p>}
      {result && (
        <Bubble
          role={textOf(result['role']) || 'assistant'}
          by={[textOf(result['model']), textOf(result['stopReason'])].filter(Boolean).join(', ')}
          content={result['content']}
          isAnswer
        />
      )}
    </>
  )
}

function Bubble(props: {
  readonly role: string
  readonly content: unknown
  readonly by?: string
  readonly isAnswer?: boolean
}) {
  const { role, content, by, isAnswer } = props
  return (
    <div class={`bubble ${isAnswer ? 'is-answer' : ''}`}>
      <p class="bubble-who">
        <b>{cut(role) || 'message'}</b> {by !== undefined && by !== '' && cut(by)}
      </p>
      <Blocks blocks={blocksIn({ content })} search="" />
    </div>
  )
}

const actions: Readonly<Record<string, string>> = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'dismissed',
}

function Form({ params, result }: AskedThing) {
  const schema = jsonOf(params['requestedSchema'])
  const fields = Object.entries(jsonOf(schema['properties']))
  const required = new Set(listOf(schema['required']))
  const answered = jsonOf(result?.['content'])
  const action = textOf(result?.['action'])
  const url = textOf(params['url'])
  return (
    <div class="asked-form">
      <p class="asked-message">{cut(textOf(params['message']))}</p>
      {url !== '' && (
        <p>
          {/^https?:\/\//i.test(url) && url.length <= longest ? <Link to={url} /> : <code>{cut(url)}</code>}
        </p>
      )}
      {fields.length > 0 && (
        <dl>
          {fields.slice(0, mostShown).map(([name, value]) => (
            <Field
              key={name}
              name={name}
              schema={jsonOf(value)}
              isRequired={required.has(name)}
              value={Object.hasOwn(answered, name) ? answered[name] : undefined}
            />
          ))}
        </dl>
      )}
      {fields.length > mostShown && <p class="quiet">{fields.length - mostShown} more fields</p>}
      {result && (
        <p>
          <span class={`pill ${action === 'accept' ? 'is-ok' : 'is-waiting'}`}>
            {Object.hasOwn(actions, action) ? actions[action] : cut(action) || 'answered'}
          </span>
        </p>
      )}
    </div>
  )
}

function Field(props: {
  readonly name: string
  readonly schema: Json
  readonly isRequired: boolean
  readonly value: unknown
}) {
  const { name, schema, isRequired, value } = props
  const about = [textOf(schema['description']), typeOf(schema), isRequired ? 'required' : '']
  return (
    <div>
      <dt>
        {cut(textOf(schema['title']) || name)}{' '}
        <span class="quiet">{cut(about.filter((part) => part !== '').join(', '))}</span>
      </dt>
      <dd>{value === undefined ? <span class="quiet">no value</span> : cut(answerText(value, schema))}</dd>
    </div>
  )
}

/** `string`, or the possible choices. */
function typeOf(schema: Json): string {
  const choices = choicesIn(schema)
  if (choices.length === 0) return textOf(schema['type'])
  const titles = choices.slice(0, 20).map(({ title }) => title)
  return `${schema['type'] === 'array' ? 'any of' : 'one of'} ${titles.join(', ')}`
}

interface Choice {
  readonly value: unknown
  readonly title: string
}

/** The choices of a field, or of the elements of a list. */
function choicesIn(schema: Json): Choice[] {
  const of = schema['type'] === 'array' ? jsonOf(schema['items']) : schema
  const titled = [...listOf(of['oneOf']), ...listOf(of['anyOf'])].map(jsonOf)
  const names = listOf(of['enumNames'])
  return [
    ...titled
      .filter((choice) => Object.hasOwn(choice, 'const'))
      .map((choice) => ({
        value: choice['const'],
        title: textOf(choice['title']) || valueText(choice['const']),
      })),
    ...listOf(of['enum']).map((value, i) => ({ value, title: textOf(names[i]) || valueText(value) })),
  ]
}

/** A value with the titles of its choices. */
function answerText(value: unknown, schema: Json): string {
  if (Array.isArray(value))
    return value
      .slice(0, mostShown)
      .map((one) => answerText(one, schema))
      .join(', ')
  const title = choicesIn(schema).find((choice) => choice.value === value)?.title
  const text = valueText(value)
  return title === undefined || title === text ? text : `${title} (${text})`
}

function Roots({ result }: AskedThing) {
  const roots = listOf(result?.['roots'])
  return (
    <ul class="asked-roots">
      {roots.slice(0, mostShown).map((root, i) => (
        <li key={i}>
          <code>{cut(textOf(jsonOf(root)['uri']))}</code> {cut(textOf(jsonOf(root)['name']))}
        </li>
      ))}
      {result && roots.length === 0 && <li class="quiet">no roots</li>}
    </ul>
  )
}

const shapes = {
  'sampling/createMessage': Chat,
  'elicitation/create': Form,
  'roots/list': Roots,
}

/** A peer's text, escaped and of limited length. */
function cut(text: string): string {
  return clean(text.length > longest ? `${text.slice(0, longest)}…` : text)
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function jsonOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}
