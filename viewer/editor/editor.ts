import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { EditorState, Prec, type Transaction } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { escapeText, invisible } from '../../src/render/index.js'
import { completeFrom } from './complete.js'
import { faultField, showFaults } from './faults.js'
import { stringAt } from './string-at.js'

/**
 * JSON Schema for a text.
 *
 * @param read the string at a pointer of the text
 */
export type SchemaOf = (read: (pointer: string) => string | undefined) => unknown

export interface EditorOptions {
  readonly parent: HTMLElement
  readonly label: string
  readonly text: string
  readonly rows: number
  /** For completion and errors. */
  readonly schema: SchemaOf
  /** Pointer to the part of the text that the schema describes. */
  readonly schemaAt: string
  readonly changed: (text: string) => void
  readonly submit: () => void
}

export interface EditorParts {
  close(): void
}

export type MakeEditor = (options: EditorOptions) => EditorParts

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--client)' },
  { tag: tags.string, color: 'var(--string)' },
  { tag: tags.number, color: 'var(--number)' },
  { tag: [tags.bool, tags.null], color: 'var(--word)' },
])

function lookOf(rows: number) {
  return EditorView.theme({
    '&': {
      border: '1px solid var(--line)',
      borderRadius: '6px',
      backgroundColor: 'var(--raised)',
      color: 'var(--ink)',
      fontSize: '12px',
      resize: 'vertical',
      overflow: 'hidden',
      height: `${rows * 1.5 + 1.2}em`,
      minHeight: '4em',
    },
    '&.cm-focused': { outline: '2px solid var(--focus)' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '.cm-unseen': {
      padding: '0 2px',
      borderRadius: '3px',
      backgroundColor: 'var(--bad)',
      color: 'var(--raised)',
    },
    '.cm-fault': { textDecoration: 'underline wavy var(--bad)' },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selected)' },
    '.cm-tooltip': {
      border: '1px solid var(--line)',
      borderRadius: '6px',
      backgroundColor: 'var(--panel)',
      color: 'var(--ink)',
      fontFamily: 'var(--sans)',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      backgroundColor: 'var(--selected)',
      color: 'var(--ink)',
    },
    '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
    '.cm-completionInfo': { maxWidth: '22em', padding: '6px 10px' },
  })
}

/** Characters that hide or reorder text, written as in the rest of the page. */
const unseenChars = highlightSpecialChars({
  addSpecialChars: new RegExp(`(?!\\t)(?:${invisible.source})`, 'gu'),
  render(code) {
    const mark = document.createElement('span')
    mark.className = 'cm-unseen'
    mark.textContent = escapeText(String.fromCodePoint(code))
    mark.title = `Invisible character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    return mark
  },
})

/** Replaces a selection by typed text. Browsers join its lines with inline styles, which the page's policy refuses. */
const typedOverSelection = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    const { from, to, empty } = view.state.selection.main
    if (inputType !== 'insertText' || data === null || isComposing || empty) return false
    const insert = (): Transaction =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handler) => handler(view, from, to, data, insert))) view.dispatch(insert())
    // CodeMirror prevents the browser's own change.
    return true
  },
})

/** A JSON editor in a shadow tree, where it may add styles: the page's policy allows no style elements. */
const makeEditor: MakeEditor = ({ parent, label, text, rows, schema, schemaAt, changed, submit }) => {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const told = document.createElement('p')
  told.className = 'act-faults'
  told.setAttribute('role', 'status')
  const schemaOf = (state: EditorState): unknown => schema((pointer) => stringAt(state, pointer))
  const view: EditorView = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                submit()
                return true
              },
            },
          ]),
        ),
        history(),
        unseenChars,
        closeBrackets(),
        typedOverSelection,
        bracketMatching(),
        json(),
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        autocompletion({
          override: [(context) => completeFrom(schemaOf(context.state), schemaAt)(context)],
          activateOnTyping: true,
          icons: false,
        }),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        keymap.of([indentWithTab]),
        faultField,
        lookOf(rows),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return
          changed(update.state.doc.toString())
          check()
        }),
      ],
    }),
  })
  parent.after(told)
  const check = (): void => {
    told.textContent = showFaults(view, schemaOf(view.state), schemaAt)
  }
  check()
  return {
    close() {
      told.remove()
      view.destroy()
    },
  }
}

Object.assign(globalThis, { wiretapeEditor: makeEditor })
