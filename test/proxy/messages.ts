import * as fc from 'fast-check'

const id = fc.oneof(
  fc.nat({ max: 5 }).map(String),
  fc.constantFrom(
    '"1"',
    '"a b"',
    '"\\u0031"',
    '1.0',
    '1e0',
    '-1',
    '01',
    '123456789012345',
    '1234567890123456',
    'null',
  ),
)
const space = fc.constantFrom('', '', '', ' ', '\t', '\r')
/** Runs of plain characters that are read by fours, and what ends them. */
const longText = fc
  .tuple(
    fc.integer({ min: 125, max: 140 }),
    fc.constantFrom('', '!#[]', '\\n', '\\"', '\\', '"', 'é', '✓', '\t', '\u0000', '\u001F', '\u007F', ' '),
    fc.nat({ max: 9 }),
  )
  .map(([length, end, more]) => `"${'x'.repeat(length)}${end}${'y'.repeat(more)}${end}"`)
const value = fc.oneof(
  fc.json({ maxDepth: 3 }),
  longText,
  fc.constantFrom(
    '"sk-abcdefghijklmnopqrstuvwxyz012345"',
    '{"password":"hunter2hunter2"}',
    '"https://a:b@example.org"',
    '"é ✓ \\ud83d"',
    '"\\u0070assword"',
    '01',
    'nul',
    '"open',
    '[1,]',
  ),
)
const method = fc.constantFrom(
  '"tools/call"',
  '"ping"',
  '"subscriptions/listen"',
  '"notifications/progress"',
  '"notifications/cancelled"',
  '"tasks/get"',
  '"m\\u0065thod"',
  '7',
)
const params = fc
  .dictionary(
    fc.constantFrom(
      'name',
      'uri',
      'arguments',
      '_meta',
      'taskId',
      'progressToken',
      'requestId',
      'ref',
      'other',
    ),
    fc.oneof(value, id, fc.constantFrom('"echo"', '{"progressToken":1}', '{"progressToken":"token"}')),
    { maxKeys: 3 },
  )
  .map(objectOf)
const result = fc
  .dictionary(
    fc.constantFrom(
      'content',
      'isError',
      'resultType',
      'requestState',
      'task',
      'taskId',
      '_meta',
      'toString',
    ),
    fc.oneof(
      value,
      fc.constantFrom('false', 'true', '"complete"', '"task"', '"input_required"', '{"taskId":"1"}'),
    ),
    { maxKeys: 3 },
  )
  .map(objectOf)

function objectOf(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`
}

/** Messages as they should be, and with one thing or another about them. */
export const message = fc
  .tuple(
    fc.constantFrom('"jsonrpc":"2.0"', '"jsonrpc":"2.0"', '"jsonrpc":"2.0"', '"jsonrpc":"1.0"', '"other":{}'),
    fc.oneof(
      fc.tuple(id, method, params).map(([i, m, p]) => [`"id":${i}`, `"method":${m}`, `"params":${p}`]),
      fc.tuple(id, result).map(([i, r]) => [`"id":${i}`, `"result":${r}`]),
      fc.tuple(method, params).map(([m, p]) => [`"method":${m}`, `"params":${p}`]),
      fc.tuple(id, value).map(([i, v]) => [`"id":${i}`, `"error":${v}`]),
      fc.array(fc.constantFrom('"id":1', '"method":"ping"', '"result":{}', '"params":{}', '"id":2', '"x":1')),
    ),
    fc.boolean(),
    space,
  )
  .map(([version, members, reversed, gap]) => {
    const all = [version, ...members]
    return `{${gap}${(reversed ? all.toReversed() : all).join(`${gap},`)}${gap}}`
  })

/** A tape with its ids numbered in the order in which they appear. */
export function numberedIds(tape: string): string {
  const seen = new Map<string, string>()
  return tape.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, (uuid) => {
    if (!seen.has(uuid)) seen.set(uuid, `id ${seen.size}`)
    return seen.get(uuid)!
  })
}
