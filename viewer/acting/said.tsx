import { formatDuration, indentJson } from '../../src/render/index.js'
import { dataUrl } from '../json/content.js'
import { clean } from '../shell/clean.js'
import { Listed } from './listed.js'
import { contentOf } from './row-forms.js'
import type { Answer } from './session.js'
import { Told } from './told.js'
import { listIn, objectIn, textIn } from './values.js'
import { WebLink } from './web-link.js'
import { Whole } from './whole.js'

const blocksAtOnce = 100

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
      {refusal !== undefined && (
        <p>
          <Told text={textIn(objectIn(refusal)['message'])} />
        </p>
      )}
      {required(refusal).map(({ url, message }, i) => (
        <p key={i}>
          <Told text={textIn(message)} /> <WebLink url={textIn(url)} />
        </p>
      ))}
      <Listed
        all={blocks}
        atOnce={blocksAtOnce}
        noun="block"
        draw={(block, i) => <Content key={i} block={block} />}
      />
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
  const url = type === 'image' && typeof data === 'string' ? dataUrl(data, textIn(mimeType)) : undefined
  if (url !== undefined) return <img class="act-image" alt="image in the response" src={url} />
  return <Whole text={indentJson(JSON.stringify(block ?? null))} />
}
