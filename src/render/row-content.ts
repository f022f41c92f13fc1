import { isFrameRecord, type EntryKind, type Part, type TapeRecord } from '../model/index.js'
import {
  decodeString,
  seekInside,
  seekMembers,
  skipValue,
  skipWhiteSpace,
  type Found,
  type Sought,
} from '../wire/index.js'
import { escapeText } from './escape.js'
import type { AskedMatter } from './row-view.js'

/** Characters of a message that are searched for its content. */
const lookedAt = 8_192
/** Maximum characters of a content. */
const longestContent = 200

/**
 * Content that distinguishes a message from others of its method: the arguments, the first line of a result,
 * the level and text of a log message, the progress. Escaped, on one line, at most 200 characters; '' if
 * there is none.
 *
 * @param asked for a response, its request
 */
export function rowContent(
  record: TapeRecord,
  part: Part | undefined,
  kind: EntryKind,
  asked?: AskedMatter,
): string {
  if (!isFrameRecord(record) || !part) return ''
  const { method = '', subject } = part.envelope
  const text = record.raw.slice(part.start, Math.min(part.end, part.start + lookedAt))
  const at = skipWhiteSpace(text, 0)
  if (kind === 'request' || kind === 'notification') return shown(paramsContent(text, at, method, subject))
  return kind === 'result' ? shown(resultContent(text, at, asked?.method ?? '')) : ''
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return escapeText(line.length <= longestContent ? line : `${line.slice(0, longestContent - 1)}…`)
}

const sought = (...names: readonly string[]): Sought => new Map(names.map((name) => [name, null]))
const inParams: Sought = sought('params')
const inResult: Sought = sought('result')

function paramsContent(text: string, start: number, method: string, subject: string | undefined): string {
  const [params] = seekMembers(text, start, inParams)
  if (!params) return ''
  const of = (...names: readonly string[]): (string | undefined)[] => textsOf(text, params.start, names)
  switch (method) {
    case 'initialize':
      return implementation(text, params.start, 'clientInfo')
    case 'tools/call':
    case 'prompts/get': {
      const [args] = seekMembers(text, params.start, sought('arguments'))
      return args ? membersText(text, args.start, undefined) : ''
    }
    case 'notifications/progress': {
      const [progress = '', total, message = ''] = of('progress', 'total', 'message')
      return `${progress}${total === undefined ? '' : `/${total}`} ${message}`
    }
    case 'notifications/message': {
      const [level = '', logger, data = ''] = of('level', 'logger', 'data')
      return `${level}${logger === undefined ? '' : ` ${logger}`}: ${data}`
    }
    case 'notifications/cancelled': {
      const [id = '', reason = ''] = of('requestId', 'reason')
      return `${id} ${reason}`
    }
    case 'elicitation/create':
      return of('message')[0] ?? ''
    case 'sampling/createMessage': {
      const [messages] = seekMembers(text, params.start, sought('messages'))
      const first = messages && firstElement(text, messages.start)
      const [content] = first === undefined ? [] : seekMembers(text, first, sought('content'))
      return content ? contentText(text, content) : ''
    }
    default:
      return taskText(text, params.start) || membersText(text, params.start, subject)
  }
}

/** List results: the member with the list, and the member that names each element. */
const offers: Readonly<Record<string, readonly [list: string, name: string]>> = {
  'tools/list': ['tools', 'name'],
  'prompts/list': ['prompts', 'name'],
  'resources/list': ['resources', 'uri'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate'],
}

function resultContent(text: string, start: number, method: string): string {
  const [result] = seekMembers(text, start, inResult)
  if (!result) return ''
  if (method === 'initialize') return implementation(text, result.start, 'serverInfo')
  const offered = offers[method]
  if (offered) {
    const [list] = seekMembers(text, result.start, sought(offered[0]))
    return list ? namesText(text, list.start, offered[1]) : ''
  }
  const state = taskText(text, result.start)
  if (state !== '') return state
  const told = firstText(text, result)
  if (told !== '') return told
  const [structured] = seekMembers(text, result.start, sought('structuredContent'))
  return membersText(text, structured?.start ?? result.start, undefined)
}

/** The first text of a result. */
function firstText(text: string, { start }: Found): string {
  const [list] = seekMembers(text, start, sought('content', 'contents', 'messages'))
  return list ? contentText(text, list) : ''
}

/** The first line of a content block, or of the first one in a list. */
function contentText(text: string, { start }: Found): string {
  const first = text[start] === '{' ? start : firstElement(text, start)
  return first === undefined ? '' : blockText(text, first)
}

/** The state of a task and its reason or result, as a message reports it; '' without a task. */
function taskText(text: string, start: number): string {
  const found = seekMembers(text, start, sought('task', 'resultType', 'result', 'error'))
  const memberOf = (name: string): Found | undefined => found.find((member) => member.name === name)
  const type = memberOf('resultType')
  const created = memberOf('task')
  const [id, status, message] = textsOf(text, created?.start ?? start, ['taskId', 'status', 'statusMessage'])
  if (id === undefined || status === undefined) return ''
  const isNew = created !== undefined || (type && valueOf(text, type) === 'task')
  const [error, result] = [memberOf('error'), memberOf('result')]
  const reason = message ?? (error && textsOf(text, error.start, ['message'])[0])
  const more = reason ?? (result ? firstText(text, result) : '')
  return [isNew ? 'task created' : status, more].filter((part) => part !== '').join(': ')
}

/** The first line of a content block; for blocks without text, their type. */
function blockText(text: string, at: number): string {
  const [words, type, mimeType, inner] = textsOf(text, at, ['text', 'type', 'mimeType', 'content'])
  if (words !== undefined) {
    const [line = ''] = words.trimStart().split('\n', 1)
    // Indented JSON.
    if (/^[{[]\s*$/.test(line)) return words
    return line.length < words.trim().length ? `${line.trimEnd()} …` : line
  }
  // A message of a prompt.
  const [content] = inner === undefined ? [] : seekMembers(text, at, sought('content'))
  if (content) return contentText(text, content)
  return type === undefined ? '' : `[${[type, mimeType].filter((word) => word !== undefined).join(' ')}]`
}

function implementation(text: string, at: number, member: string): string {
  const [info] = seekMembers(text, at, sought(member))
  const [name = '', version = ''] = info ? textsOf(text, info.start, ['name', 'version']) : []
  const [protocol = ''] = textsOf(text, at, ['protocolVersion'])
  return [`${name} ${version}`.trim(), protocol && `MCP ${protocol}`].filter(Boolean).join(', ')
}

function namesText(text: string, list: number, member: string): string {
  const names: string[] = []
  for (let at = firstElement(text, list); at !== undefined; at = nextElement(text, at)) {
    const [name] = textsOf(text, at, [member])
    if (name !== undefined) names.push(name)
    if (names.join(', ').length > longestContent) break
  }
  return names.join(', ')
}

/** Members that do not describe a message. */
const aside = new Set(['_meta', 'content', 'isError', 'resultType', 'ttlMs', 'cacheScope', 'progressToken'])

/** `a: 1, b: "x"`. @param known a value already shown elsewhere in the row */
function membersText(text: string, at: number, known: string | undefined): string {
  const parts: string[] = []
  let length = 0
  for (const member of seekInside(text, at, nothing)) {
    if (aside.has(member.name) || (known !== undefined && valueOf(text, member) === known)) continue
    const part = `${member.name}: ${text.slice(member.start, Math.min(member.end, member.start + longestContent))}`
    parts.push(part)
    length += part.length
    if (length > longestContent) break
  }
  return parts.join(', ')
}
const nothing: Sought = new Map()

/** Values of members: strings decoded, others as JSON. */
function textsOf(text: string, at: number, names: readonly string[]): (string | undefined)[] {
  const found = seekMembers(text, at, sought(...names))
  return names.map((name) => {
    const member = found.find((one) => one.name === name)
    return member && valueOf(text, member)
  })
}

function valueOf(text: string, { start, end }: Found): string {
  if (text[start] !== '"') return text.slice(start, Math.min(end, start + longestContent))
  // The searched part of a text may end within an escape.
  if (end >= text.length) return text.slice(start + 1, end)
  try {
    return decodeString(text, start, end)
  } catch {
    return text.slice(start + 1, end - 1)
  }
}

function firstElement(text: string, list: number): number | undefined {
  if (text[list] !== '[') return undefined
  const at = skipWhiteSpace(text, list + 1)
  return text[at] === '{' ? at : undefined
}

function nextElement(text: string, element: number): number | undefined {
  const comma = skipWhiteSpace(text, skipValue(text, element))
  if (text[comma] !== ',') return undefined
  const at = skipWhiteSpace(text, comma + 1)
  return text[at] === '{' ? at : undefined
}
