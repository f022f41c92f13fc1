import { useState } from 'preact/hooks'
import { escapeLines, formatBytes } from '../../src/render/index.js'

const longest = 20_000

/** A text of a peer in lines; of a long one the beginning, until more is asked for. */
export function Whole({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false)
  const cut = !whole && text.length > longest
  return (
    <>
      <pre class="act-json" tabIndex={0}>
        {escapeLines(cut ? text.slice(0, longest) : text)}
        {cut && '…'}
      </pre>
      {cut && (
        <button type="button" class="bare more" onClick={() => setWhole(true)}>
          Show {formatBytes(text.length - longest)} more
        </button>
      )}
    </>
  )
}
