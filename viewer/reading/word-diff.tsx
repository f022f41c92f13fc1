import { diffWordsWithSpace } from 'diff'
import { clean } from '../shell/clean.js'

/** Maximum number of differences; texts that differ more are shown one after the other. */
const maxEditLength = 400
const longest = 20_000
/** Characters shown at each end of an equal part. */
const context = 60

/** The differences between two texts, word by word. */
export function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const [old, now] = [before.slice(0, longest), after.slice(0, longest)]
  const changes = diffWordsWithSpace(old, now, { maxEditLength }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: now },
  ]
  return (
    <span class="word-diff">
      {changes.map(({ removed, added, value }, i) => {
        if (removed) return <del key={i}>{lines(value)}</del>
        if (added) return <ins key={i}>{lines(value)}</ins>
        return <span key={i}>{lines(shortened(value, i === 0, i === changes.length - 1))}</span>
      })}
    </span>
  )
}

function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  const [head, tail] = [isFirst ? 0 : context, isLast ? 0 : context]
  if (text.length <= head + tail + 1) return text
  return `${text.slice(0, head)} … ${tail === 0 ? '' : text.slice(-tail)}`
}

function lines(text: string): string {
  return text.split('\n').map(clean).join('\n')
}
