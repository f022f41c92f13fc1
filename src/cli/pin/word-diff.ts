import { diffWordsWithSpace } from 'diff'
import { escapeText, type Style } from '../../render/index.js'

/** Most differences; texts with more are shown one after the other. */
const maxEditLength = 400
/** Characters compared; a diff of longer texts is not useful. */
const longest = 20_000
/** Characters shown at each end of an unchanged part. */
const context = 40

/** Word diff of two JSON texts on one line: `[-removed-]` and `{+added+}`. */
export function wordDiff(before: string, after: string, style: Style): string {
  const [old, now] = [before, after].map((json) => plain(json).slice(0, longest))
  const changes = diffWordsWithSpace(old!, now!, { maxEditLength }) ?? [
    { removed: true, added: false, value: old! },
    { removed: false, added: true, value: now! },
  ]
  return changes
    .map(({ removed, added, value }, i) => {
      if (removed) return style.red(`[-${escapeText(value)}-]`)
      if (added) return style.green(`{+${escapeText(value)}+}`)
      return escapeText(shortened(value, i === 0, i === changes.length - 1))
    })
    .join('')
}

/** A string is shown without quotes. */
function plain(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}

function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  const [head, tail] = [isFirst ? 0 : context, isLast ? 0 : context]
  if (text.length <= head + tail + 1) return text
  return `${text.slice(0, head)}…${tail === 0 ? '' : text.slice(-tail)}`
}
