import { formatDuration } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { Blocks } from '../json/blocks.js'
import { blocksIn } from '../json/content.js'
import { JsonOrTable } from '../json/list-table.js'
import { JsonTree } from '../json/tree.js'
import { clean } from '../shell/clean.js'
import type { Answer } from './session.js'
import { Told } from './told.js'
import { listIn, objectIn, textIn } from './values.js'
import { WebLink } from './web-link.js'

/** A response, as the details of a recording show it, and its full JSON. */
export function Said({ said }: { readonly said: Answer }) {
  const { answer, error, latencyMs } = said
  if (answer === undefined)
    return (
      <p class="failure" role="alert">
        {clean(error ?? 'no response')}
      </p>
    )
  const message = new JsonObject(answer, 0)
  const [result, refusal] = [message.object('result'), message.raw('error')]
  const failed = !message.has('result') || result?.raw('isError') === 'true'
  const blocks = blocksIn(JSON.parse(message.raw('result') ?? 'null'))
  const structured = result?.raw('structuredContent')
  return (
    <section class="act-answers" aria-label="Response" aria-live="polite">
      <h3 class={failed ? 'bad' : ''}>
        {failed ? 'failed' : 'answered'}
        {latencyMs !== undefined && ` after ${formatDuration(latencyMs * 1000)}`}
      </h3>
      {refusal !== undefined && <Refused error={objectIn(JSON.parse(refusal))} />}
      {blocks.length > 0 && <Blocks blocks={blocks} search="" />}
      {structured !== undefined && (
        <div class="block">
          <span class="block-kind">structured content</span>
          <JsonOrTable text={structured} search="" label="Structured content" />
        </div>
      )}
      <details open={blocks.length === 0 && structured === undefined}>
        <summary>JSON</summary>
        <JsonTree text={message.raw('result') ?? refusal ?? answer} label="Response" />
      </details>
    </section>
  )
}

function Refused({ error }: { readonly error: ReturnType<typeof objectIn> }) {
  return (
    <>
      <p>
        <Told text={textIn(error['message'])} />
      </p>
      {required(error).map(({ url, message }, i) => (
        <p key={i}>
          <Told text={textIn(message)} /> <WebLink url={textIn(url)} />
        </p>
      ))}
    </>
  )
}

/** URLs that the user must open in a browser first: `URLElicitationRequiredError` of MCP 2025-11-25. */
function required({ code, data }: ReturnType<typeof objectIn>): readonly ReturnType<typeof objectIn>[] {
  return code === -32042 ? listIn(objectIn(data)['elicitations']).slice(0, 20).map(objectIn) : []
}
