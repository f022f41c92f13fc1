import {
  matchesAlone,
  parseMatcher,
  toJsonPath,
  toPointer,
  withJsonInTexts,
  type JsonPlace,
} from '../compare/index.js'
import type { RedactionMark } from '../model/index.js'
import { Redactor, literalRule, redactionMarker, secretVariable } from '../redaction/index.js'
import {
  decodeString,
  elementsOf,
  jsonIn,
  JsonObject,
  kindAt,
  membersOf,
  spliceText,
  type TextEdit,
} from '../wire/index.js'
import type { SavedServer } from './saved-call.js'

/** A completed call. */
export interface MadeCall {
  readonly server: SavedServer
  readonly method: string
  /** Exact JSON text of an object. */
  readonly params: string
  /** Exact text of the response. */
  readonly answer: string
}

/** A call for a file, without a name: exact JSON texts with variables in place of secrets. */
export interface CallToSave {
  readonly server: string
  readonly request: string
  readonly expect: string
  /** Tool or method, for the name. */
  readonly title: string
  /** Environment variables that the file needs. */
  readonly variables: readonly string[]
}

/** Matchers that recognize values of every run by their form. */
const volatile = ['uuid', 'timestamp'].map((name) => parseMatcher(name))
const mostMatches = 100

/**
 * Converts a call and its response for a file of saved calls. Secrets become environment variables; in the response they
 * are ignored. Values that differ on every run get a matcher.
 *
 * @param known environment values in the call, by variable name
 */
export function makeSavedCall(made: MadeCall, known: ReadonlyMap<string, string>): CallToSave {
  const secrets: string[] = []
  const redactor = new Redactor({
    defaults: true,
    rules: [...known.values()].map((secret) => literalRule('environment', secret)),
    tag(secret) {
      if (!secrets.includes(secret)) secrets.push(secret)
      return String(secrets.indexOf(secret))
    },
  })
  const names = createNames(known)
  const hidden = (json: string): string => {
    const { raw, red } = redactor.json(json) ?? { raw: json, red: [] }
    return asTemplate(raw, red, (tag, member) => names.of(member, secrets[Number(tag)]))
  }
  const { method, params, answer } = made
  const { request, title } = requestOf(method, params)
  return {
    server: serverOf(made.server, redactor, names, hidden),
    request: hidden(request),
    expect: expectOf(answer, (json) => redactor.json(json)),
    title,
    variables: names.all(),
  }
}

interface Names {
  /** `${env:NAME}` for a secret. @param member that holds it */
  of(member: string, secret?: string): string
  all(): readonly string[]
}

/** Equal secrets share a variable. */
function createNames(known: ReadonlyMap<string, string>): Names {
  const secretsOf = new Map<string, string | undefined>()
  return {
    of(member, secret) {
      const given = [...known].find(([, value]) => value === secret)?.[0]
      const base = given ?? secretVariable(member)
      let name = base
      for (let number = 2; given === undefined && secretsOf.has(name); number += 1) {
        if (secret !== undefined && secretsOf.get(name) === secret) break
        name = `${base}_${number}`
      }
      secretsOf.set(name, secret)
      return `\${env:${name}}`
    },
    all: () => [...secretsOf.keys()],
  }
}

function serverOf(
  server: SavedServer,
  redactor: Redactor,
  names: Names,
  hidden: (json: string) => string,
): string {
  if ('client' in server) return JSON.stringify(server.client)
  if ('command' in server) {
    const words = redactor.command(server.command)
    const filled = words.map((word, i) => withoutMarkers(word, words[i - 1] ?? '', names))
    return JSON.stringify({ command: filled })
  }
  const url = JSON.stringify(withoutMarkers(redactor.url(server.url), '', names))
  if (server.headers.length === 0) return `{"url":${url}}`
  return `{"url":${url},"headers":${hidden(JSON.stringify(Object.fromEntries(server.headers)))}}`
}

/** A word of a command line, or a URL. @param before the word before it, which may be a flag */
function withoutMarkers(word: string, before: string, names: Names): string {
  const [flag = ''] = /[\w-]*$/.exec(before) ?? []
  return word
    .replaceAll('${', () => '$${')
    .split(redactionMarker)
    .reduce((text, rest) => {
      const [, key = flag] = /([\w-]+)=$/.exec(text) ?? []
      return `${text}${names.of(key.replace(/^-+/, '') || 'value')}${rest}`
    })
}

function requestOf(method: string, params: string): { readonly request: string; readonly title: string } {
  const members = membersOf(params, 0).filter(({ name }) => name !== '_meta')
  const memberText = (name: string): string | undefined => {
    const member = members.find((one) => one.name === name)
    return member && params.slice(member.start, member.end)
  }
  const tool = memberText('name')
  const isPlain = members.every(({ name }) => name === 'name' || name === 'arguments')
  if (method === 'tools/call' && isPlain && tool?.startsWith('"')) {
    const args = memberText('arguments')
    const given = args === undefined || /^\{\s*\}$/.test(args) ? '' : `,"arguments":${args}`
    return { request: `{"tool":${tool}${given}}`, title: decodeString(tool, 0, tool.length) }
  }
  const rest = members.map(({ name, start, end }) => `${JSON.stringify(name)}:${params.slice(start, end)}`)
  const given = rest.length === 0 ? '' : `,"params":{${rest.join(',')}}`
  return { request: `{"method":${JSON.stringify(method)}${given}}`, title: method }
}

/** Replaces redacted values by variables and escapes all other text. */
function asTemplate(
  json: string,
  red: readonly RedactionMark[],
  variableOf: (tag: string, member: string) => string,
): string {
  const edits: TextEdit[] = []
  forEachLeaf(json, (place, start, end) => {
    if (json.charAt(start) !== '"') return
    const at = toPointer(place)
    const tags = red.filter((mark) => mark.at === at).map(({ tag }) => tag)
    const member = place.findLast((step) => typeof step === 'string') ?? ''
    let used = 0
    const text = decodeString(json, start, end)
      .replaceAll('${', () => '$${')
      .replaceAll(redactionMarker, (marker) => {
        const tag = tags[used]
        used += 1
        return tag === undefined ? marker : variableOf(tag, member)
      })
    edits.push({ start, end, text: JSON.stringify(text) })
  })
  return spliceText(json, edits)
}

function expectOf(
  answer: string,
  redact: (json: string) => { readonly raw: string; readonly red: readonly RedactionMark[] } | undefined,
): string {
  const span = jsonIn(answer)
  if (!span) return '{}'
  const message = new JsonObject(answer, span.start)
  const member = message.has('error') ? 'error' : 'result'
  const whole = `{${JSON.stringify(member)}:${message.raw(member) ?? '{}'}}`
  const { raw, red } = redact(whole) ?? { raw: whole, red: [] }
  const ignored = [...new Set(red.map(({ at }) => toJsonPath(placeIn(raw, at))))]
  const matched: Record<string, string> = {}
  forEachLeaf(withJsonInTexts(whole), (place, start, end, text) => {
    if (Object.keys(matched).length === mostMatches) return
    const path = toJsonPath(place)
    const names = volatile.filter((matcher) => matchesAlone(matcher, text.slice(start, end)))
    if (names.length > 0 && !ignored.includes(path)) matched[path] = names.map((one) => one.text).join('+')
  })
  const rules = {
    ...(ignored.length > 0 && { ignore: ignored }),
    ...(Object.keys(matched).length > 0 && { match: matched }),
  }
  const more = JSON.stringify(rules).slice(1)
  const expected = asTemplate(raw, [], () => '')
  return more === '}' ? expected : `${expected.slice(0, -1)},${more}`
}

/** Values that are neither objects nor arrays. */
function forEachLeaf(
  json: string,
  take: (place: JsonPlace, start: number, end: number, json: string) => void,
  start = 0,
  end = json.length,
  place: JsonPlace = [],
): void {
  const kind = kindAt(json, start)
  if (kind === 'object')
    for (const { name, ...span } of membersOf(json, start))
      forEachLeaf(json, take, span.start, span.end, [...place, name])
  else if (kind === 'array')
    for (const [i, span] of elementsOf(json, start).entries())
      forEachLeaf(json, take, span.start, span.end, [...place, i])
  else take(place, start, end, json)
}

/** Place of a leaf, from its JSON Pointer. */
function placeIn(json: string, pointer: string): JsonPlace {
  let found: JsonPlace = []
  forEachLeaf(json, (place) => {
    if (toPointer(place) === pointer) found = place
  })
  return found
}
