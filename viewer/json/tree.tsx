import { useState } from 'preact/hooks'
import { formatBytes, formatCount } from '../../src/render/index.js'
import { decodeString, elementsOf, jsonIn, kindAt, membersOf } from '../../src/wire/index.js'
import { clean } from '../shell/clean.js'
import { Chevron } from '../shell/icons.js'
import { Marked } from './marked.js'

/** A value by its place in the exact text; parsed only when unfolded. */
interface ValueProps {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly depth: number
  /** JSON Pointer. */
  readonly path: string
  readonly search: string
  /** Redacted values. */
  readonly redacted: ReadonlySet<string>
}

/** Members of an object or elements of an array shown at once. */
const pageLength = 200
const longestString = 1_200
/** Maximum depth that a search unfolds. */
const deepestFound = 60

interface Child {
  readonly name: string | undefined
  readonly path: string
  readonly start: number
  readonly end: number
}

/** JSON text as a tree; numbers, escapes and repeated members are shown as written. */
export function JsonTree(props: {
  readonly text: string
  readonly search?: string
  readonly redacted?: ReadonlySet<string>
  readonly label?: string
}) {
  const found = jsonIn(props.text)
  if (!found) return <pre class="plain-text">{props.text.slice(0, 100_000)}</pre>
  const root = { text: props.text, start: found.start, end: found.end }
  return (
    <div class="json" role="tree" aria-label={props.label ?? 'JSON'}>
      <Node
        {...root}
        depth={0}
        path=""
        name={undefined}
        search={props.search ?? ''}
        redacted={props.redacted ?? nothing}
      />
    </div>
  )
}

const nothing: ReadonlySet<string> = new Set()

function Node(props: ValueProps & { readonly name: string | undefined }) {
  const { text, start, end, depth, search } = props
  const kind = kindAt(text, start)
  const isContainer = kind === 'object' || kind === 'array'
  const size = end - start
  const isEmpty = isContainer && size < 40 && text.slice(start + 1, end - 1).trim() === ''
  // Large values are folded; the outer levels are open.
  const [open, setOpen] = useState(depth === 0 || (depth < 4 && size < 6_000) || (depth < 2 && size < 60_000))
  const found = search !== '' && isContainer && depth < deepestFound && containsText(text, start, end, search)
  const isOpen = open || found
  const children = isContainer && isOpen && !isEmpty ? childrenOf(props, kind) : undefined
  const brackets = kind === 'object' ? '{}' : '[]'
  return (
    <div
      class="node"
      role="treeitem"
      aria-expanded={isContainer ? isOpen : undefined}
      style={{ '--depth': depth }}
    >
      <div class="line">
        {isContainer && !isEmpty ? (
          <button
            type="button"
            class="bare twist"
            aria-label={isOpen ? 'Collapse' : 'Expand'}
            onClick={() => setOpen(!isOpen)}
          >
            <Chevron open={isOpen} />
          </button>
        ) : (
          <span class="twist" />
        )}
        {props.name !== undefined && (
          <span class="key">
            <Marked text={clean(props.name)} search={search} />:{' '}
          </span>
        )}
        {isContainer ? (
          <span class="punctuation" onClick={() => setOpen(!isOpen)}>
            {isEmpty ? brackets : isOpen ? brackets[0] : `${brackets[0]}…${brackets[1]}`}
            {!isOpen && !isEmpty && <span class="amount"> {summaryOf(text, start, kind, size)}</span>}
          </span>
        ) : (
          <Scalar {...props} kind={kind} />
        )}
      </div>
      {children && <Children {...props} list={children} />}
      {isContainer && isOpen && !isEmpty && <div class="line close">{brackets[1]}</div>}
    </div>
  )
}

function Children(props: ValueProps & { readonly list: readonly Child[] }) {
  const [pages, setPages] = useState(1)
  const { list, text, search, redacted, depth } = props
  const visible = list.length <= pages * pageLength ? list : list.slice(0, pages * pageLength)
  return (
    <div class="children" role="group">
      {visible.map((child, i) => (
        <Node
          key={i}
          text={text}
          start={child.start}
          end={child.end}
          depth={depth + 1}
          path={child.path}
          name={child.name}
          search={search}
          redacted={redacted}
        />
      ))}
      {visible.length < list.length && (
        <button type="button" class="bare more" onClick={() => setPages(pages + 4)}>
          Show {formatCount(list.length - visible.length)} more
        </button>
      )}
    </div>
  )
}

function childrenOf({ text, start, path }: ValueProps, kind: 'object' | 'array'): Child[] {
  if (kind === 'object') {
    return membersOf(text, start).map((member) => ({
      name: member.name,
      path: `${path}/${member.name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      start: member.start,
      end: member.end,
    }))
  }
  return elementsOf(text, start).map((span, i) => ({ name: undefined, path: `${path}/${i}`, ...span }))
}

function summaryOf(text: string, start: number, kind: 'object' | 'array', size: number): string {
  if (size > 200_000) return formatBytes(size)
  if (kind === 'array') return `${elementsOf(text, start).length} items`
  const names = membersOf(text, start).map(({ name }) => clean(name))
  const shown = names.slice(0, 4).join(', ')
  return names.length > 4 ? `${shown}, …` : shown
}

function Scalar(props: ValueProps & { readonly kind: 'string' | 'number' | 'boolean' | 'null' }) {
  const { text, start, end, kind, search, redacted, path } = props
  const written = text.slice(start, Math.min(end, start + 50))
  if (kind !== 'string') return <span class={`value ${kind}`}>{written}</span>
  return <StringValue text={text} start={start} end={end} search={search} isRedacted={redacted.has(path)} />
}

function StringValue(props: {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly search: string
  readonly isRedacted: boolean
}) {
  const { text, start, end, search, isRedacted } = props
  const [limit, setLimit] = useState(longestString)
  const [inner, setInner] = useState(false)
  const tooLong = end - start > limit + 2
  // Cut outside of escapes; the cut of a long string need not be exact to the character.
  const value = tooLong ? safeHead(text.slice(start + 1, start + 1 + limit)) : decodeString(text, start, end)
  const json = !tooLong && looksLikeJson(value) ? value : undefined
  const link = /^https?:\/\/[^\s"<>]+$/.test(value) && !tooLong ? value : undefined
  return (
    <>
      <span class={`value string ${isRedacted ? 'redacted' : ''}`}>
        <span class="quote">"</span>
        {link ? <Link to={link} /> : <Marked text={cleanLines(value)} search={search} />}
        <span class="quote">{tooLong ? '…' : '"'}</span>
        {isRedacted && <em class="tag redacted">redacted</em>}
      </span>
      {tooLong && (
        <button type="button" class="bare more" onClick={() => setLimit(Math.min(limit * 20, 400_000))}>
          Show {formatBytes(end - start - limit)} more
        </button>
      )}
      {json !== undefined && (
        <button type="button" class="bare more" aria-pressed={inner} onClick={() => setInner(!inner)}>
          {inner ? 'as text' : 'as JSON'}
        </button>
      )}
      {inner && json !== undefined && (
        <div class="inner">
          <JsonTree text={json} search={search} label="JSON inside text" />
        </div>
      )}
    </>
  )
}

/** A link that opens only on a click, shows its target and sends no referrer. */
export function Link({ to }: { readonly to: string }) {
  // Text before an @ looks like a host but is none.
  const host = URL.canParse(to) ? new URL(to).host : ''
  const title = `Opens ${clean(host)} in a new tab`
  return (
    <a href={to} target="_blank" rel="noopener noreferrer nofollow" title={title} class="link">
      {clean(to)}
    </a>
  )
}

/** Keeps line breaks; escapes other invisible characters. */
function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n')
}

function safeHead(escaped: string): string {
  const cut = escaped.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')
  try {
    return JSON.parse(`"${cut}"`) as string
  } catch {
    return cut
  }
}

export function looksLikeJson(value: string): boolean {
  if (value.length < 2 || value.length > 4_000_000 || !/^\s*[[{]/.test(value)) return false
  return jsonIn(value) !== undefined
}

function containsText(text: string, start: number, end: number, search: string): boolean {
  if (end - start > 4_000_000) return false
  return text.slice(start, end).toLowerCase().includes(search.toLowerCase())
}
