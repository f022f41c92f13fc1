import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { pointerSteps } from '../../src/wire/index.js'

/** Longest wait for the syntax of a long text. */
const parseWithinMs = 50

/** The string at a pointer of a JSON text, which may be incomplete. */
export function stringAt(state: EditorState, pointer: string): string | undefined {
  const text = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    unquoted(state.doc.sliceString(from, to))
  const tree = ensureSyntaxTree(state, state.doc.length, parseWithinMs) ?? syntaxTree(state)
  let value = tree.topNode.firstChild
  for (const step of pointerSteps(pointer)) {
    const properties = value?.name === 'Object' ? value.getChildren('Property') : []
    const found = properties.findLast((one) => {
      const name = one.getChild('PropertyName')
      return name !== null && text(name) === step
    })
    value = found?.lastChild ?? null
  }
  return value?.name === 'String' ? text(value) : undefined
}

/** The value of a JSON string, or of one that is not closed. */
export function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.replaceAll('"', '')
  }
}
