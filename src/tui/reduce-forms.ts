import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { CommandBody } from '../control-schema/index.js'
import { isEmptyFilter, parseFilter } from '../filter/index.js'
import { indentJson } from '../render/index.js'
import { readWritten } from '../wire/index.js'
import type { Key } from './keys.js'
import {
  layoutOf,
  selectedRow,
  type CommandPurpose,
  type Context,
  type Editor,
  type Prompt,
  only,
  type ScreenState,
  type Step,
} from './state.js'
import { fieldText, typeInto } from './text-field.js'

export function pressInHelp(state: ScreenState, top: number, key: Key): ScreenState {
  switch (key.name) {
    case 'j':
    case 'down':
      return { ...state, helpTop: top + 1 }
    case 'k':
    case 'up':
      return { ...state, helpTop: Math.max(0, top - 1) }
    case 'pagedown':
    case ' ':
      return { ...state, helpTop: top + 10 }
    case 'pageup':
      return { ...state, helpTop: Math.max(0, top - 10) }
    default: {
      const { helpTop: _, ...closed } = state
      return closed
    }
  }
}

export function pressInPrompt(state: ScreenState, prompt: Prompt, key: Key, context: Context): Step {
  const { prompt: _, ...closed } = state
  if (key.name === 'esc' || key.name === 'ctrl+c') {
    return prompt.kind === 'filter' ? filtered(closed, state.filterText) : only(closed)
  }
  if (key.name === 'enter') return submit(closed, prompt, context)
  const one = key.name === 'paste' ? { ...key, text: (key.text ?? '').replace(/[\r\n]+/g, ' ') } : key
  const field = typeInto(prompt.field, one)
  if (!field || field.lines.length > 1) return only(state)
  const { fault: __, ...rest } = prompt
  const isFilter = prompt.kind === 'filter' || prompt.kind === 'break'
  const fault = isFilter ? faultOf(prompt.kind, fieldText(field)) : undefined
  const asking = { ...closed, prompt: { ...rest, field, ...(fault !== undefined && { fault }) } }
  // The list shows the effect of a filter while it is typed.
  return prompt.kind === 'filter' && fault === undefined ? filtered(asking, fieldText(field)) : only(asking)
}

function filtered(state: ScreenState, text: string): Step {
  const parsed = parseFilter(text)
  if ('fault' in parsed) return only(state)
  return {
    state,
    effects: [{ kind: 'filter', filter: isEmptyFilter(parsed.filter) ? undefined : parsed.filter }],
  }
}

/** Breakpoints cannot use findings: rules see a message only after the decision about it. */
function parsedFor(kind: Prompt['kind'], text: string): ReturnType<typeof parseFilter> {
  return parseFilter(text, { findings: kind === 'break' ? 'refused' : 'allowed' })
}

function faultOf(kind: Prompt['kind'], text: string): string | undefined {
  const parsed = parsedFor(kind, text)
  return 'fault' in parsed ? `column ${parsed.fault.column}: ${parsed.fault.message}` : undefined
}

function submit(state: ScreenState, prompt: Prompt, context: Context): Step {
  const text = fieldText(prompt.field).trim()
  if (prompt.kind === 'note') {
    if (text === '') return only(state)
    const row = selectedRow(state, context)
    const message = row === undefined ? undefined : context.log.idOf(row)
    const command: CommandBody = { type: 'annotate', text, ...(message !== undefined && { message }) }
    return { state, effects: [{ kind: 'command', command, as: 'note' }] }
  }
  if (prompt.kind === 'save') {
    if (text === '') return only(state)
    const path = resolve(text.startsWith('~/') ? `${homedir()}${text.slice(1)}` : text)
    const command: CommandBody =
      path === context.hello.sessionFile ? { type: 'save' } : { type: 'save', path }
    const saving = { ...state, notice: { text: 'saving…', tone: 'plain' } } as const
    return { state: saving, effects: [{ kind: 'command', command, as: 'save' }] }
  }
  const parsed = parsedFor(prompt.kind, text)
  if ('fault' in parsed) return only({ ...state, prompt: { ...prompt, fault: faultOf(prompt.kind, text)! } })
  if (prompt.kind === 'break') {
    const filters = isEmptyFilter(parsed.filter) ? [] : [text]
    const asked = { kind: 'command', command: { type: 'breakpoints', filters } } as const
    if (filters.length === 0) return { state, effects: [{ ...asked, as: 'unbreak' }] }
    // Setting a breakpoint also turns holding on.
    const hold = { kind: 'command', command: { type: 'hold', on: true }, as: 'hold' } as const
    return { state, effects: [{ ...asked, as: 'break' }, ...(state.gate?.hold ? [] : [hold])] }
  }
  const filter = isEmptyFilter(parsed.filter) ? undefined : parsed.filter
  return { state: { ...state, filterText: filter ? text : '' }, effects: [{ kind: 'filter', filter }] }
}

export function pressInEditor(state: ScreenState, editor: Editor, key: Key, _context: Context): Step {
  if (key.name === 'esc' || key.name === 'ctrl+c') {
    const { editor: _, ...closed } = state
    if (editor.purpose === 'again') {
      const { again: __, ...rest } = closed
      return only({ ...rest, notice: { text: 'not sent', tone: 'plain' } })
    }
    const stays = editor.purpose === 'edit' || editor.purpose === 'answer'
    return only(
      stays
        ? { ...closed, notice: { text: 'not changed: the message is still held', tone: 'plain' } }
        : closed,
    )
  }
  if (key.name === 'ctrl+s' || key.name === 'f10') return confirm(state, editor)
  if (key.name === 'ctrl+o') return { state, effects: [{ kind: 'external', text: fieldText(editor.field) }] }
  const { list, detail } = layoutOf(state)
  const field = typeInto(editor.field, key, Math.max(1, list + detail - 1))
  if (!field) return only(state)
  const { fault: _, token, ...rest } = editor
  // An edited text is no longer the one that was sent.
  const same = token !== undefined && fieldText(field) === fieldText(editor.field)
  return only({ ...state, editor: { ...rest, field, ...(same && { token }) } })
}

function confirm(state: ScreenState, editor: Editor): Step {
  if (editor.token !== undefined) return only(state)
  const written = fieldText(editor.field)
  const refuse = (fault: string): Step => only({ ...state, editor: { ...editor, fault } })
  const read = readWritten(written, editor.purpose === 'answer' ? 'answer' : 'message')
  if ('fault' in read) return refuse(read.fault)
  const { text, result, error } = read
  if (editor.purpose === 'answer') {
    const command: CommandBody = {
      type: 'answer',
      message: editor.message!,
      ...(result !== undefined && { result }),
      ...(error !== undefined && { error }),
    }
    return asked(state, editor, command, 'answer')
  }
  const { command, as } = commandOf(editor, text)
  return asked(state, editor, command, as)
}

/** Sends the command. The editor stays open until the outcome is known. */
function asked(state: ScreenState, editor: Editor, command: CommandBody, as: CommandPurpose): Step {
  const token = state.lastToken + 1
  const { fault: _, ...rest } = editor
  const again = as === 'again' && state.again ? { again: { ...state.again, token } } : {}
  return {
    state: { ...state, ...again, lastToken: token, editor: { ...rest, token } },
    effects: [{ kind: 'command', command, as, token }],
  }
}

function commandOf(editor: Editor, text: string): { command: CommandBody; as: 'edit' | 'compose' | 'again' } {
  switch (editor.purpose) {
    case 'again':
      return { command: { type: 'replay', message: editor.message!, text }, as: 'again' }
    case 'compose':
      return { command: { type: 'inject', direction: editor.direction!, text }, as: 'compose' }
    default: {
      const message = editor.message!
      // If only white space differs, the original bytes are forwarded.
      const same = indentJson(text) === indentJson(editor.original)
      return { command: same ? { type: 'forward', message } : { type: 'edit', message, text }, as: 'edit' }
    }
  }
}
