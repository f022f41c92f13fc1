import { tell, wordsOf } from './state.js'

/** A text with a copy button. */
export function Copied({ text }: { readonly text: string }) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      tell('Copied.')
    } catch (error) {
      tell(`Cannot copy: ${wordsOf(error)}`, 'bad')
    }
  }
  return (
    <div class="to-copy">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" class="button small" onClick={() => void copy()}>
        Copy
      </button>
    </div>
  )
}
