import { StateEffect, StateField, type Range } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'
import { checkSchema } from '../../src/compare/index.js'
import { escapeText } from '../../src/render/index.js'
import { findJsonValue, isFault, pointerSteps, valueAt } from '../../src/wire/index.js'

interface Fault {
  readonly from: number
  readonly to: number
  readonly words: string
}

/** Longer texts are not checked. */
const longest = 2_000_000
const mostTold = 3

const setFaults = StateEffect.define<readonly Fault[]>()

/** Marks errors in the text. */
export const faultField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes)
    for (const effect of transaction.effects)
      if (effect.is(setFaults)) next = Decoration.set(effect.value.flatMap(markOf), true)
    return next
  },
  provide: (field) => EditorView.decorations.from(field),
})

function markOf({ from, to, words }: Fault): Range<Decoration>[] {
  if (to <= from) return []
  return [Decoration.mark({ class: 'cm-fault', attributes: { title: words } }).range(from, to)]
}

/** Marks the errors of the text, and returns the first one as a sentence. */
export function showFaults(view: EditorView, schema: unknown, schemaAt: string): string {
  const text = view.state.doc.toString()
  const faults = text.length > longest ? [] : faultsOf(text, schema, schemaAt)
  view.dispatch({ effects: setFaults.of(faults) })
  const more = faults.length > mostTold ? ` and ${faults.length - mostTold} more` : ''
  return (
    faults
      .slice(0, mostTold)
      .map(({ words }) => words)
      .join('; ') + more
  )
}

export function faultsOf(text: string, schema: unknown, schemaAt: string): Fault[] {
  const found = findJsonValue(text)
  if (isFault(found)) {
    const at = Math.min(found.at, Math.max(0, text.length - 1))
    const line = text.slice(0, found.at).split('\n').length
    return [{ from: at, to: Math.min(text.length, at + 1), words: `not JSON: ${found.reason}, line ${line}` }]
  }
  const about = valueAt(text, found.start, pointerSteps(schemaAt))
  if (schema === undefined || about === undefined) return []
  type Json = Parameters<typeof checkSchema>[0]
  const value = JSON.parse(text.slice(about.start, about.end)) as Json
  return checkSchema(schema as Json, value).map(({ at, problem }) => {
    const place = valueAt(text, about.start, pointerSteps(at)) ?? about
    const name = at === '' ? 'it' : at.slice(1).replaceAll('/', '.')
    return { from: place.start, to: place.end, words: escapeText(`${name} ${problem}`) }
  })
}
