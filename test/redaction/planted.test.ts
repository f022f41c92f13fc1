import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonValue, isFault } from '../../src/wire/index.js'
import { defaultRedactor } from './redacting.js'
import { runs } from '../long.js'

/** A secret and the text of a value it is in; `core` must not be seen again. */
interface Planted {
  readonly core: string
  /** JSON text of a member, or of a value. */
  readonly member: string
}

const unit = fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'.split(''))
const word = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit, minLength: length, maxLength: length })
/** Unlike anything that is around it. */
const core = word(24).map((text) => `Q7${text}`)

/** Any of the ways in which JSON can write a string. */
function written(text: string, escapes: readonly boolean[]): string {
  const parts = Array.from(text).map((character, i) => {
    if (escapes[i % escapes.length] !== true) return JSON.stringify(character).slice(1, -1)
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    return units.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')
  })
  return `"${parts.join('')}"`
}

const escapes = fc.oneof(
  fc.constant([false]),
  fc.constant([true]),
  fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
)

const secretName = fc
  .tuple(
    fc.constantFrom('', 'db_', 'client-', 'My ', 'x.'),
    fc.constantFrom(
      'password',
      'passwd',
      'pwd',
      'secret',
      'token',
      'api_key',
      'apiKey',
      'authorization',
      'bearer',
      'access_key',
      'Private Key',
    ),
    fc.constantFrom('', 's', '2', '_value', 'Hash'),
    fc.boolean(),
  )
  .map(([before, term, after, upper]) =>
    upper ? (before + term + after).toUpperCase() : before + term + after,
  )

const inContainer = fc.constantFrom<(value: string) => string>(
  (value) => value,
  (value) => `[${value}]`,
  (value) => `{"a":{"b":[1,${value}]}}`,
)

const byName: fc.Arbitrary<Planted> = fc
  .tuple(core, secretName, escapes, escapes, inContainer)
  .map(([core, name, nameEscapes, escapes, wrap]) => ({
    core,
    member: `${written(name, nameEscapes)}:${wrap(written(core, escapes))}`,
  }))

/** Texts in which the looks give the secret away. */
const looks: ((core: string) => string)[] = [
  (core) => `sk-${core}`,
  (core) => `ghp_${core}`,
  (core) => `github_pat_${core}`,
  (core) => `xoxb-${core}`,
  (core) => `sk_live_${core}`,
  (core) => `whsec_${core}`,
  (core) => `eyJhbGciOiJIUzI1NiJ9.${core}.${core}`,
  (core) => `Bearer ${core}`,
  (core) => `Authorization: Basic ${core}`,
  (core) => `postgres://user:${core}@host/db`,
  (core) => `-----BEGIN PRIVATE KEY-----\n${core}\n-----END PRIVATE KEY-----`,
  (core) => `https://hooks.slack.com/services/${core}`,
  (core) => `${core}/.env`,
  (core) => `${core}/.ssh/id_rsa`,
  (core) => `{"n":1,"password":"${core}"}`,
  (core) => `{"tokens":["${core}"]}`,
  (core) => JSON.stringify({ text: JSON.stringify({ apiKey: core }) }),
  (core) => `FOO_SECRET=${core}`,
  (core) => `https://host/?access_token=${core}`,
]
const around = fc.constantFrom(
  '\\n',
  'x\\t',
  '%20',
  '\u001b[31m',
  '',
  ' ',
  '\n',
  '"',
  "'",
  ' \u20ac ',
  '\u{1f600}',
  ', ',
  '(',
  'see: ',
)
const behind = fc.constantFrom('', ' ', '\n', '"', "'", ', ', ' \u{1f600}')

const byLooks: fc.Arbitrary<Planted> = fc
  .tuple(core, fc.constantFrom(...looks), around, behind, escapes, fc.boolean())
  .map(([core, look, before, after, escapes, asName]) => {
    const text = written(before + look(core) + after, escapes)
    return { core, member: asName ? `${text}:1` : `"text":${text}` }
  })

const plainMember = fc
  .oneof(
    fc.tuple(
      fc.constantFrom('a', 'n', 'maxTokens', 'token', 'cursor'),
      fc.constantFrom('1.0', '-0', 'true', 'null', '1e400'),
    ),
    fc.tuple(
      fc.constantFrom('a', 'text', 'token_type', 'id'),
      fc.constantFrom('"x"', '"\\u00e9\\/"', '[]', '{}', '[1,"y"]'),
    ),
  )
  .map(([name, value]) => `"${name}":${value}`)

/** Enough to put what follows at any place in the pieces in which a text is first looked at. */
const padding = fc
  .tuple(fc.constantFrom('x', 'aB9+/', '\u20ac', ' ', '\\n'), fc.oneof(fc.constant(0), fc.nat({ max: 9000 })))
  .map(([piece, length]) => piece.repeat(length / piece.length))

const place = fc.array(
  fc.constantFrom<(object: string) => string>(
    (object) => `[${object}]`,
    (object) => `[0,"x",${object},{}]`,
    (object) => `{"inner":${object}}`,
    (object) => `{ "inner" : ${object} , "inner" : 5 }`,
    (object) => `{"inputSchema":{"properties":{"x":${object}}}}`,
  ),
  { maxLength: 6 },
)

const top = fc.constantFrom<(payload: string) => string>(
  (payload) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${payload}}`,
  (payload) => `{"result":${payload},"id":1}`,
  (payload) => `[{"id":1},{"error":{"data":${payload}}}]`,
  (payload) => `{"params":{"requestedSchema":${payload}}}`,
  (payload) => `{"params":{"_meta":${payload},"requestedSchema":{"$defs":{"a":${payload}}}}}`,
)

describe('a planted secret', () => {
  it('of any kind, at any depth, in any order and spelling, is not in what is left', () => {
    const message = fc.tuple(
      fc.oneof(byName, byLooks),
      fc.array(plainMember, { maxLength: 3 }),
      fc.array(plainMember, { maxLength: 3 }),
      fc.boolean(),
      place,
      top,
      padding,
    )
    fc.assert(
      fc.property(message, ([{ core, member }, before, after, twice, places, top, padding]) => {
        const pad = padding === '' ? [] : [`"pad":"${padding}"`]
        const members = [...pad, ...before, member, ...after, ...(twice ? [member] : [])]
        const payload = places.reduce((object, wrap) => wrap(object), `{${members.join(',')}}`)
        const raw = top(payload)
        expect(isFault(findJsonValue(raw))).toBe(false)

        const redactor = defaultRedactor()
        const found = redactor.json(raw)
        expect(found).toBeDefined()
        const left = found?.raw ?? ''
        expect(isFault(findJsonValue(left))).toBe(false)
        expect(left).not.toContain(core)
        expect(JSON.stringify(JSON.parse(left))).not.toContain(core)
        expect(JSON.stringify([found?.red.map(({ at }) => at), redactor.report()])).not.toContain(core)
        for (const { at } of found?.red ?? []) expect(at === '' || at.startsWith('/')).toBe(true)
        expectSameAround(raw, left)
      }),
      { numRuns: runs(4000) },
    )
  })

  it('is not in a line either', () => {
    const name = fc.constantFrom('password', 'API_KEY', 'access_token', 'client-secret', '"secret"', "'pwd'")
    const joint = fc.constantFrom('=', ': ', ' = ', ':', ' => ')
    const quote = fc.constantFrom('', '"', "'")
    const named = fc
      .tuple(core, name, joint, quote)
      .map(([core, name, joint, quote]) => ({ core, line: name + joint + quote + core + quote }))
    const looking = fc
      .tuple(core, fc.constantFrom(...looks))
      .map(([core, look]) => ({ core, line: look(core) }))
    fc.assert(
      fc.property(fc.oneof(named, looking), around, behind, ({ core, line }, before, after) => {
        expect(defaultRedactor().line(before + line + after, 'stderr')).not.toContain(core)
        expect(defaultRedactor().text(before + line + after)).not.toContain(core)
        expect(
          defaultRedactor()
            .command([before + line + after])
            .join(' '),
        ).not.toContain(core)
        expect(defaultRedactor().url(`https://h/${encodeURIComponent(before)}?x=1&y=${line}`)).not.toContain(
          core,
        )
      }),
      { numRuns: runs(2000) },
    )
  })
})

/** Checks that the rest consists of pieces of the original, in order, with markers between them. */
function expectSameAround(raw: string, left: string): void {
  const pieces = left.split(/"?\[REDACTED\]"?/)
  expect(raw.startsWith(pieces[0] ?? '')).toBe(true)
  expect(raw.endsWith(pieces.at(-1) ?? '')).toBe(true)
  let at = 0
  for (const piece of pieces) {
    at = raw.indexOf(piece, at)
    expect(at).toBeGreaterThanOrEqual(0)
    at += piece.length
  }
}
