import { useState } from 'preact/hooks'
import { formatBytes, formatCount } from '../../src/render/index.js'
import { timeText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { readsMarkdown } from '../shell/reads-markdown.js'
import { Later } from '../shell/views.js'
import { select } from '../store/actions.js'
import { headOf } from '../store/exchange.js'
import { readOf } from '../store/resource-reads.js'
import { origin, selected } from '../store/state.js'
import { dataUrl, type Block } from './content.js'
import { JsonOrTable } from './list-table.js'
import { Marked } from './marked.js'
import { looksLikeMarkdown } from './looks-like-markdown.js'
import { JsonTree, Link, looksLikeJson } from './tree.js'

const longestText = 20_000
const blocksAtOnce = 100

/** Content of a tool, prompt or resource: text, pictures, and links that show their target. */
export function Blocks({ blocks, search }: { readonly blocks: readonly Block[]; readonly search: string }) {
  const [drawn, setDrawn] = useState(blocksAtOnce)
  const more = Math.min(blocksAtOnce, blocks.length - drawn)
  return (
    <div class="blocks">
      {blocks.slice(0, drawn).map((block, i) => (
        <BlockView key={i} block={block} search={search} />
      ))}
      {more > 0 && (
        <button type="button" class="button" onClick={() => setDrawn(drawn + blocksAtOnce)}>
          Show {more} more of {formatCount(blocks.length)} blocks
        </button>
      )}
    </div>
  )
}

function BlockView({ block, search }: { readonly block: Block; readonly search: string }) {
  switch (block.type) {
    case 'text':
      return <TextBlock text={block.text} role={block.role} search={search} />
    case 'image':
    case 'audio':
      return <Media block={block} />
    case 'link':
      return (
        <div class="block resource">
          <span class="block-kind">
            resource link{block.mimeType === '' ? '' : ` · ${clean(block.mimeType)}`}
          </span>
          <b>{clean(block.name)}</b> <Uri uri={block.uri} />
          {block.description !== '' && <p>{clean(block.description)}</p>}
        </div>
      )
    case 'blob': {
      const url = block.mimeType.startsWith('image/') ? dataUrl(block.data, block.mimeType) : undefined
      return (
        <div class="block resource">
          <span class="block-kind">
            resource · {clean(block.mimeType) || 'binary'} ·{' '}
            {formatBytes(Math.floor(block.data.length * 0.75))}
          </span>
          <Uri uri={block.uri} />
          {url !== undefined && <img src={url} alt={`Resource ${clean(block.uri)}`} />}
        </div>
      )
    }
    case 'other':
      return (
        <div class="block">
          <JsonTree text={JSON.stringify(block.value) ?? 'null'} search={search} />
        </div>
      )
  }
}

/** A URI that shows its target, with a link to the request that reads it. */
function Uri({ uri }: { readonly uri: string }) {
  const read = readOf(uri, selected.value)
  return (
    <>
      {/^https?:\/\//i.test(uri) ? <Link to={uri} /> : <code class="uri">{clean(uri)}</code>}
      {read >= 0 && headOf(selected.value) !== read && (
        <button type="button" class="bare more to-read" onClick={() => select(read)}>
          read at {timeText(read, origin.value)}
        </button>
      )}
    </>
  )
}

function TextBlock(props: {
  readonly text: string
  readonly role: string | undefined
  readonly search: string
}) {
  const { text, role, search } = props
  const isJson = looksLikeJson(text)
  const [asJson, setAsJson] = useState(isJson)
  const isMarkdown = !isJson && looksLikeMarkdown(text)
  const [whole, setWhole] = useState(false)
  const cut = !whole && text.length > longestText
  return (
    <div class="block text">
      <span class="block-kind">
        text{role === undefined || role === '' ? '' : ` · ${clean(role)}`}
        {isJson && (
          <button type="button" class="bare more" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
            {asJson ? 'as text' : 'as JSON'}
          </button>
        )}
        {isMarkdown && (
          <button
            type="button"
            class="bare more"
            aria-pressed={readsMarkdown.value}
            onClick={() => (readsMarkdown.value = !readsMarkdown.value)}
          >
            {readsMarkdown.value ? 'as plain text' : 'as Markdown'}
          </button>
        )}
      </span>
      {asJson ? (
        <JsonOrTable text={text} search={search} label="JSON inside text" />
      ) : isMarkdown && readsMarkdown.value ? (
        <Later part="Markdown" of={{ text, search }} />
      ) : (
        <pre class="plain-text">
          <Marked text={linesOf(cut ? text.slice(0, longestText) : text)} search={search} />
          {cut && '…'}
        </pre>
      )}
      {!asJson && cut && (
        <button type="button" class="bare more" onClick={() => setWhole(true)}>
          Show {formatBytes(text.length - longestText)} more
        </button>
      )}
    </div>
  )
}

function linesOf(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(clean).join('\t'))
    .join('\n')
}

function Media({ block }: { readonly block: Block & { type: 'image' | 'audio' } }) {
  const url = dataUrl(block.data, block.mimeType)
  const size = formatBytes(Math.floor(block.data.length * 0.75))
  const what = `${block.type} · ${clean(block.mimeType)} · ${size}`
  const [dimensions, setDimensions] = useState('')
  return (
    <div class="block media">
      <span class="block-kind">
        {what}
        {dimensions}
      </span>
      {url === undefined && <p class="quiet">Cannot show: unsupported type or invalid data.</p>}
      {url !== undefined && block.type === 'image' && (
        <img
          src={url}
          alt={`Image, ${clean(block.mimeType)}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setDimensions(` · ${naturalWidth} × ${naturalHeight}`)
          }
        />
      )}
      {url !== undefined && block.type === 'audio' && <audio controls src={url} />}
    </div>
  )
}
