import { formatDuration, indentJson } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { contentOf } from './row-forms.js'
import type { Answer } from './session.js'
import { listIn, objectIn, textIn } from './values.js'
import { WebLink } from './web-link.js'
import { Whole } from './whole.js'

/** Of an answer; the rest stands in its JSON. */
const mostBlocks = 100

/** Image types without scripts. */
const drawable = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A response: its texts and images rendered, and its full JSON. */
export function Said({ said }: { readonly said: Answer }) {
  const { answer, error, latencyMs } = said
  if (answer === undefined)
    return (
      <p class="failure" role="alert">
        {clean(error ?? 'no response')}
      </p>
    )
  const { result, error: refusal } = objectIn(JSON.parse(answer))
  const { content, isError } = objectIn(result)
  const failed = result === undefined || isError === true
  const blocks = listIn(content)
  return (
    <section class="act-answers" aria-label="Response" aria-live="polite">
      <h3 class={failed ? 'bad' : ''}>
        {failed ? 'failed' : 'answered'}
        {latencyMs !== undefined && ` after ${formatDuration(latencyMs * 1000)}`}
      </h3>
      {refusal !== undefined && <p>{clean(textIn(objectIn(refusal)['message']))}</p>}
      {required(refusal).map(({ url, message }, i) => (
        <p key={i}>
          {clean(textIn(message))} <WebLink url={textIn(url)} />
        </p>
      ))}
      {blocks.slice(0, mostBlocks).map((block, i) => (
        <Content key={i} block={block} />
      ))}
      <details open={blocks.length === 0}>
        <summary>JSON</summary>
        <Whole text={contentOf(answer)} />
      </details>
    </section>
  )
}

/** URLs that the user must open in a browser first: `URLElicitationRequiredError` of MCP 2025-11-25. */
function required(error: unknown): readonly ReturnType<typeof objectIn>[] {
  const { code, data } = objectIn(error)
  return code === -32042 ? listIn(objectIn(data)['elicitations']).slice(0, 20).map(objectIn) : []
}

export function Content({ block }: { readonly block: unknown }) {
  const { type, text, data, mimeType } = objectIn(block)
  if (type === 'text' && typeof text === 'string') return <Whole text={text} />
  if (type === 'image' && typeof data === 'string' && drawable.has(textIn(mimeType)))
    return (
      <img class="act-image" alt="image in the response" src={`data:${textIn(mimeType)};base64,${data}`} />
    )
  return <Whole text={indentJson(JSON.stringify(block ?? null))} />
}
