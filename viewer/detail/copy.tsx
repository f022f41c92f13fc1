import { clean } from '../shell/clean.js'
import { copyText } from '../shell/clipboard.js'
import { Icon } from '../shell/icons.js'
import { useMenu } from '../shell/use-menu.js'
import { headOf } from '../store/exchange.js'
import { lanes, table } from '../store/state.js'
import { loadViews } from '../shell/views.js'

/** Labels of the forms. */
export const copyForms = {
  json: 'JSON-RPC',
  pretty: 'indented JSON',
  response: 'response',
  pair: 'request and response',
  curl: 'cURL',
  call: 'wiretape call',
  replay: 'wiretape replay',
  typescript: 'TypeScript',
  python: 'Python',
  rule: 'rule with this response',
  mock: 'mock server with this response',
  markdown: 'Markdown',
} as const
export type CopyForm = keyof typeof copyForms

/** The forms available for a row: curl needs a URL, `replay` a request of the client. */
export function formsOf(row: number): readonly CopyForm[] {
  const head = headOf(row)
  const isSent = (one: number): boolean => !table.has(one, 'fromServer') && table.seq(one) >= 0
  const url = lanes.value[table.lane(row)]?.sessions[0]?.url ?? null
  const isRequest = isSent(head) && table.kind(head) === 'request'
  const method = table.method(head)
  const isNamed = isRequest && ['tools/call', 'prompts/get', 'resources/read'].includes(method)
  const fits: Readonly<Partial<Record<CopyForm, boolean>>> = {
    response: table.kind(row) === 'request' && table.peer(row) >= 0,
    pair: table.kind(head) === 'request' && table.peer(head) >= 0,
    curl: url !== null && isSent(row),
    // The handshake belongs to each connection.
    call: isRequest && method !== 'initialize',
    replay: isRequest,
    typescript: isRequest && method !== 'initialize',
    python: isNamed,
    rule: isNamed && table.peer(head) >= 0,
    mock: isRequest && table.peer(head) >= 0,
  }
  return (Object.keys(copyForms) as CopyForm[]).filter((form) => fits[form] ?? true)
}

/** Copies a message in a form for use elsewhere. */
export function CopyMenu({ row }: { readonly row: number }) {
  const { open, setOpen, closing } = useMenu()
  return (
    <div class="menu" {...closing}>
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

/** Copies a row and shows a notice. */
export async function copy(row: number, form: CopyForm): Promise<void> {
  const { name, path } = lanes.value[table.lane(row)]!.file
  const isBare =
    (form === 'replay' || (form === 'call' && table.method(headOf(row)) !== 'tools/call')) &&
    path === undefined
  await copyText(
    async () => (await loadViews()).textOf(row, form),
    isBare
      ? {
          text: `Copied as ${copyForms[form]}. The page does not know the path of ${clean(name)}: run the command in its folder.`,
          tone: 'warn',
        }
      : { text: `Copied as ${copyForms[form]}.`, tone: 'plain' },
  )
}
