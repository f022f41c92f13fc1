import { useState } from 'preact/hooks'
import { indentJson } from '../../src/render/index.js'
import type { HeldRecord, MessageRecord } from '../../src/model/index.js'
import { clean } from '../shell/clean.js'
import { copyText } from '../shell/clipboard.js'
import { Icon } from '../shell/icons.js'
import { headOf } from '../store/exchange.js'
import { reader } from '../store/actions.js'
import { lanes, table } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'
import { nameOf } from '../list/row.js'
import { curlOf, markdownOf, replayOf } from './copy-forms.js'

const forms = {
  json: 'JSON-RPC',
  pretty: 'JSON, indented',
  curl: 'curl',
  replay: 'wiretape replay',
  markdown: 'Markdown',
} as const
export type CopyForm = keyof typeof forms

/** The forms that a row has: curl needs an address, `replay` a request of the client. */
export function formsOf(row: number): readonly CopyForm[] {
  const head = headOf(row)
  const isSent = (one: number): boolean => !table.has(one, 'fromServer') && table.seq(one) >= 0
  const url = lanes.value[table.lane(row)]?.sessions[0]?.url ?? null
  const fits: Readonly<Partial<Record<CopyForm, boolean>>> = {
    curl: url !== null && isSent(row),
    replay: isSent(head) && table.kind(head) === 'request',
  }
  return (Object.keys(forms) as CopyForm[]).filter((form) => fits[form] ?? true)
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
                as {forms[form]}
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
          text: `Copied as ${forms[form]}. A page is not told where ${clean(name)} is on your disk: run the command in its folder.`,
          tone: 'warn',
        }
      : { text: `Copied as ${forms[form]}.`, tone: 'plain' },
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
    case 'markdown': {
      const answer = table.kind(row) === 'request' ? table.peer(row) : -1
      const answerText = answer >= 0 ? jsonOf(await reader().detail(answer, true)) : undefined
      const { name, subject } = nameOf(row)
      return markdownOf(clean(`${name} ${subject}`.trim()), text, answerText)
    }
  }
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
