import { useState } from 'preact/hooks'
import { escapeLines, formatBytes } from '../../src/render/index.js'

const longest = 20_000

/** The beginning of a long text, and the button that shows the rest. */
export function useBeginning(text: string, most: number) {
  const [whole, setWhole] = useState(false)
  const isCut = !whole && text.length > most
  const more = isCut && (
    <button type="button" class="bare more" onClick={() => setWhole(true)}>
      Show {formatBytes(text.length - most)} more
    </button>
  )
  return { shown: isCut ? text.slice(0, most) : text, isCut, more }
}

/** A text of a peer in lines; of a long one the beginning, until more is asked for. */
export function Whole({ text }: { readonly text: string }) {
  const { shown, isCut, more } = useBeginning(text, longest)
  return (
    <>
      <pre class="act-json" tabIndex={0}>
        {escapeLines(shown)}
        {isCut && '…'}
      </pre>
      {more}
    </>
  )
}
