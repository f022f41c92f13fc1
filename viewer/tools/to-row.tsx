import { select } from '../store/actions.js'
import { view } from '../store/state.js'

/** Leads to a message in the list. */
export function ToRow({ row, text }: { readonly row: number; readonly text: string }) {
  return (
    <button
      type="button"
      class="bare link-like"
      onClick={() => {
        select(row)
        view.value = 'messages'
      }}
    >
      {text}
    </button>
  )
}
