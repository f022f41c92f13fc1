import { filterKeys, findKey, flagWords, valueWords, type FilterKey } from './keys.js'

/** Names that occur in a recording or capture, most useful first. */
export interface KnownNames {
  readonly methods?: readonly string[]
  readonly tools?: readonly string[]
  readonly prompts?: readonly string[]
  readonly resources?: readonly string[]
  readonly conversations?: readonly string[]
  readonly rules?: readonly string[]
  /** Ids of rules with findings. */
  readonly findings?: readonly string[]
}

export interface Completion {
  /** Replacement for the text from `from` to `to`. */
  readonly text: string
  /** Key or value, for display. */
  readonly label: string
  readonly about: string
}

export interface Completions {
  /** UTF-16 code units. */
  readonly from: number
  readonly to: number
  readonly options: readonly Completion[]
}

const mostOptions = 50

/**
 * Completions at the cursor: keys, operators, and known values. Never throws. Inside quotes and patterns there
 * are none.
 */
export function completeFilter(text: string, cursor: number, known: KnownNames = {}): Completions {
  const at = Math.max(0, Math.min(cursor, text.length))
  const start = termStart(text, at)
  if (start === undefined) return { from: at, to: at, options: [] }
  const to = at + (/^[^\s()]*/.exec(text.slice(at))?.[0].length ?? 0)
  const word = text.slice(start, at)
  const colon = word.indexOf(':')
  if (colon < 0) {
    const options = keyCompletions(word, /\S/.test(text.slice(0, start)))
    return { from: start, to, options: options.slice(0, mostOptions) }
  }
  const key = findKey(word.slice(0, colon).toLowerCase())
  const typed = word.slice(colon + 1)
  const options =
    key === undefined ? [] : valueCompletions(key, known).filter(({ label }) => isNear(label, typed))
  return {
    from: start + colon + 1,
    to,
    options: options.toSorted((a, b) => rank(a.label, typed) - rank(b.label, typed)).slice(0, mostOptions),
  }
}

/** Start of the term at the cursor; undefined inside quotes and patterns. */
function termStart(text: string, cursor: number): number | undefined {
  let start = 0
  let closing = ''
  for (let i = 0; i < cursor; i += 1) {
    const next = text[i]!
    if (closing !== '') {
      if (next === '\\') i += 1
      else if (next === closing) closing = ''
    } else if (next === '"' || next === "'") closing = next
    else if (next === '~' && text[i + 1] === '/') {
      closing = '/'
      i += 1
    } else if (/[\s()]/.test(next)) start = i + 1
    else if (i === start && /[-!<>]/.test(next)) start = i + 1
  }
  return closing === '' ? start : undefined
}

function keyCompletions(word: string, follows: boolean): Completion[] {
  const typed = word.toLowerCase()
  const keys = filterKeys.map(({ name, about }) => ({ text: `${name}:`, label: `${name}:`, about }))
  const words = follows && typed !== '' ? [{ text: 'or ', label: 'or', about: 'either of two' }] : []
  return [...keys, ...words].filter(({ label }) => label.startsWith(typed))
}

function valueCompletions({ value }: FilterKey, known: KnownNames): Completion[] {
  switch (value.kind) {
    case 'direction':
      return [...valueWords.direction.keys()]
        .slice(0, 2)
        .map((word) => plain(word, word === 'in' ? 'client to server' : 'server to client'))
    case 'transport':
      return [...valueWords.transport.keys()].slice(0, 3).map((word) => plain(word, ''))
    case 'status':
    case 'level':
      return [...valueWords[value.kind].keys()].map((word) => plain(word, ''))
    case 'finding': {
      const ids = known.findings ?? []
      const packs = new Set(ids.map((id) => id.slice(0, id.indexOf('/'))))
      const all = { text: '*', label: '*', about: 'anything' }
      return [all, ...[...packs, ...ids].map((id) => plain(id, ''))]
    }
    case 'flag':
      return [...flagWords].map(([flag, about]) => plain(flag, about))
    case 'number':
      return [{ text: value.example, label: value.example, about: 'for example' }]
    case 'time':
      return ['10m', '1h', '1d'].map((span) => plain(span, 'before now'))
    case 'name': {
      const names = {
        method: known.methods,
        tool: known.tools,
        prompt: known.prompts,
        resource: known.resources,
        name: [...(known.tools ?? []), ...(known.prompts ?? []), ...(known.resources ?? [])],
        conversation: known.conversations,
        rule: known.rules,
      }[value.field]
      return (names ?? []).map((name) => plain(name, ''))
    }
    default:
      return []
  }
}

function plain(label: string, about: string): Completion {
  return { text: quoteValue(label), label, about }
}

/** Quotes a value where needed, so that it is matched literally. */
export function quoteValue(value: string): string {
  if (value !== '' && !/[\s()"'*]/.test(value) && !/^[~=!<>]/.test(value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function isNear(label: string, typed: string): boolean {
  return label.toLowerCase().includes(typed.toLowerCase())
}

/** Labels that start with the typed text come first. */
function rank(label: string, typed: string): number {
  return label.toLowerCase().startsWith(typed.toLowerCase()) ? 0 : 1
}
