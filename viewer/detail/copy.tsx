import { useState } from 'preact/hooks'
import { indentJson } from '../../src/render/index.js'
import type { HeldRecord, MessageRecord, Session } from '../../src/model/index.js'
import { clean } from '../shell/clean.js'
import { copyText } from '../shell/clipboard.js'
import { Icon } from '../shell/icons.js'
import { headOf } from '../store/exchange.js'
import { reader } from '../store/actions.js'
import { lanes, table } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'
import { nameOf } from '../list/row.js'
import { callOf, pythonOf, ruleOf, toolCallOf, typescriptOf } from './copy-code.js'
import { curlOf, markdownOf, replayOf } from './copy-forms.js'

/** What they are called. */
export const copyForms = {
  json: 'JSON-RPC',
  pretty: 'JSON, indented',
  pair: 'request and response',
  curl: 'curl',
  call: 'wiretape call',
  replay: 'wiretape replay',
  typescript: 'TypeScript',
  python: 'Python',
  rule: 'rule: answer so from now on',
  markdown: 'Markdown',
} as const
export type CopyForm = keyof typeof copyForms

/** The forms that a row has: curl needs an address, `replay` a request of the client. */
export function formsOf(row: number): readonly CopyForm[] {
  const head = headOf(row)
  const isSent = (one: number): boolean => !table.has(one, 'fromServer') && table.seq(one) >= 0
  const url = lanes.value[table.lane(row)]?.sessions[0]?.url ?? null
  const isRequest = isSent(head) && table.kind(head) === 'request'
  const isCall = isRequest && table.method(head) === 'tools/call'
  const fits: Readonly<Partial<Record<CopyForm, boolean>>> = {
    pair: table.kind(head) === 'request' && table.peer(head) >= 0,
    curl: url !== null && isSent(row),
    call: isCall,
    replay: isRequest,
    typescript: isRequest && table.method(head) !== 'initialize',
    python: isCall,
    rule: isCall && table.peer(head) >= 0,
  }
  return (Object.keys(copyForms) as CopyForm[]).filter((form) => fits[form] ?? true)
}

/** Puts a message on the clipboard, in a form that can be used elsewhere. */
export function CopyMenu({ row }: { readonly row: number }) {
  const [open, setOpen] = useState(false)
  return (
    <div
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.stopPropagation()
        setOpen(false)
      }}
      onFocusOut={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOpen(false)
      }}
    >
      <button
        type="button"
        class="button"
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="copy" /> Copy
      </button>
      {open && (
        <ul class="menu-list">
          {formsOf(row).map((form) => (
            <li key={form}>
              <button
                type="button"
                onClick={() => {
                  setOpen(false)
                  void copy(row, form)
                }}
              >
                as {copyForms[form]}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Copies a row, and says so. */
export async function copy(row: number, form: CopyForm): Promise<void> {
  const { name, path } = lanes.value[table.lane(row)]!.file
  const isBare = form === 'replay' && path === undefined
  await copyText(
    () => textOf(row, form),
    isBare
      ? {
          text: `Copied as ${copyForms[form]}. A page is not told where ${clean(name)} is on your disk: run the command in its folder.`,
          tone: 'warn',
        }
      : { text: `Copied as ${copyForms[form]}.`, tone: 'plain' },
  )
}

async function textOf(row: number, form: CopyForm): Promise<string> {
  const detail = await reader().detail(row, true)
  const text = jsonOf(detail)
  const lane = lanes.value[table.lane(row)]!
  const session = lane.sessions[0]
  switch (form) {
    case 'json':
      return text
    case 'pretty':
      return indentJson(text)
    case 'curl':
      return curlOf(detail.record as MessageRecord | HeldRecord, text, session?.url ?? '')
    case 'replay':
      return replayOf(lane.file.path ?? lane.file.name, table.seq(headOf(row)), session)
    case 'pair':
      return `${await messageAt(headOf(row))}\n${await messageAt(table.peer(headOf(row)))}`
    case 'call':
    case 'typescript':
    case 'python':
    case 'rule':
      return codeOf(row, form, session)
    case 'markdown': {
      const answer = table.kind(row) === 'request' ? table.peer(row) : -1
      const answerText = answer >= 0 ? jsonOf(await reader().detail(answer, true)) : undefined
      const { name, subject } = nameOf(row)
      return markdownOf(clean(`${name} ${subject}`.trim()), text, answerText)
    }
  }
}

async function messageAt(row: number): Promise<string> {
  return jsonOf(await reader().detail(row, true))
}

/** What does the call again, or answers it. */
async function codeOf(
  row: number,
  form: 'call' | 'typescript' | 'python' | 'rule',
  session: Session | undefined,
): Promise<string> {
  const head = headOf(row)
  const text = await messageAt(head)
  const call = toolCallOf(text)
  if (form === 'typescript') return typescriptOf(text, session)
  if (!call) throw new Error('this is no call of a tool')
  if (form === 'call') return callOf(call, session)
  return form === 'python' ? pythonOf(call, session) : ruleOf(call, await messageAt(table.peer(head)))
}

/** Exact text of a message; the words of anything else. */
export function jsonOf({ record, part }: Detail): string {
  if (record.type === 'message' || record.type === 'held') {
    const { start, end } = record.parts[part] ?? record.parts[0]!
    return record.raw.slice(start, end)
  }
  if (record.type === 'noise' || record.type === 'stderr') return record.text
  return JSON.stringify(record)
}
