import { formatDuration, indentJson } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { contentOf } from './row-forms.js'
import type { Answer } from './session.js'
import { textIn } from './state.js'
import { WebLink } from './web-link.js'

interface Block {
  readonly type?: unknown
  readonly text?: unknown
  readonly data?: unknown
  readonly mimeType?: unknown
}

/** Image types without scripts. */
const drawn = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A response: its texts and images rendered, and its full JSON. */
export function Said({ said }: { readonly said: Answer }) {
  const { answer, error, latencyMs } = said
  if (answer === undefined)
    return (
      <p class="failure" role="alert">
        {clean(error ?? 'no response')}
      </p>
    )
  const { result, error: refusal } = JSON.parse(answer) as {
    readonly result?: { readonly content?: unknown; readonly isError?: unknown }
    readonly error?: ResponseError
  }
  const failed = result === undefined || result.isError === true
  const blocks = Array.isArray(result?.content) ? (result.content as Block[]) : []
  return (
    <section class="act-answers" aria-label="Answer" aria-live="polite">
      <h3 class={failed ? 'bad' : ''}>
        {failed ? 'failed' : 'answered'}
        {latencyMs !== undefined && ` after ${formatDuration(latencyMs * 1000)}`}
      </h3>
      {refusal && <p>{clean(textIn(refusal.message))}</p>}
      {required(refusal).map(({ url, message }, i) => (
        <p key={i}>
          {clean(textIn(message))} <WebLink url={textIn(url)} />
        </p>
      ))}
      {blocks.map((block, i) => (
        <Content key={i} block={block} />
      ))}
      <details open={blocks.length === 0}>
        <summary>JSON</summary>
        <pre class="act-json" tabIndex={0}>
          {contentOf(answer)}
        </pre>
      </details>
    </section>
  )
}

interface ResponseError {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: { readonly elicitations?: unknown }
}

/** URLs that the user must open in a browser first: `URLElicitationRequiredError` of MCP 2025-11-25. */
function required(error: ResponseError | undefined): readonly { url?: unknown; message?: unknown }[] {
  const list = error?.code === -32042 ? error.data?.elicitations : undefined
  return Array.isArray(list) ? list.slice(0, 20).map((one: object | null) => one ?? {}) : []
}

export function Content({ block }: { readonly block: Block }) {
  const { type, text, data, mimeType } = block
  if (type === 'text' && typeof text === 'string')
    return (
      <pre class="act-json" tabIndex={0}>
        {clean(text)}
      </pre>
    )
  if (type === 'image' && typeof data === 'string' && drawn.has(String(mimeType)))
    return <img class="act-image" alt="image in the answer" src={`data:${String(mimeType)};base64,${data}`} />
  return (
    <pre class="act-json" tabIndex={0}>
      {clean(indentJson(JSON.stringify(block)).slice(0, 20_000))}
    </pre>
  )
}
