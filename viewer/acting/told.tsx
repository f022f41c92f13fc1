import { escapeText, invisible } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { useBeginning } from './whole.js'

const longest = 2_000

/** A peer's text in a sentence or paragraph; of a long one the beginning, until more is asked for. */
export function Told({ text }: { readonly text: string }) {
  const { shown, isCut, more } = useBeginning(text, longest)
  return (
    <>
      {clean(shown)}
      {isCut && <>… {more}</>}
    </>
  )
}

/** Characters of a label or choice. */
const longestName = 300

/** A peer's text as a label or choice: one line, of limited length. */
export function nameOf(text: string): string {
  return clean(text.length > longestName ? `${text.slice(0, longestName)}…` : text)
}

const mostUnseen = 10

/** Names the invisible characters in the text of a field, which shows none of them. */
export function Unseen({ text }: { readonly text: string }) {
  const found = new Set(text.match(invisible)?.filter((char) => char !== '\n' && char !== '\t'))
  if (found.size === 0) return null
  const named = [...found].slice(0, mostUnseen).map(escapeText)
  return (
    <small class="act-unseen">
      Invisible characters: {named.join(' ')}
      {found.size > mostUnseen && ` and ${found.size - mostUnseen} more`}
    </small>
  )
}
