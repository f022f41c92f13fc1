// @ts-check
/** The cost of redaction per message, compared with parsing and printing it. */
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './lib/books.mjs'
import { median } from './lib/statistics.mjs'

const BARE = 'JSON.parse + stringify'
const OURS = 'redact'
const words =
  'The quick brown fox jumps over the lazy dog (see https://example.com/page), 12.5 times, as foo-bar or snake_case.\n'

/** @param {number} count */
function items(count) {
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    name: `item ${i}`,
    description: `Number ${i}, with some words`,
    price: i * 1.25,
    tags: ['a', 'b'],
    path: `/a/b/c${i}`,
  }))
}

/** @param {string} text */
function textResult(text) {
  return { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }
}

/** @type {readonly { name: string, message: object, promised: boolean }[]} */
const MESSAGES = [
  {
    name: '300 B',
    message: {
      jsonrpc: '2.0',
      id: 12,
      method: 'tools/call',
      params: {
        name: 'read_file',
        arguments: {
          path: '/home/me/project/src/index.ts',
          encoding: 'utf8',
          head: 100,
          options: { limit: 20 },
        },
        _meta: { progressToken: 12, client: 'some client or other, 1.0.0', trace: 'b7ad6b7169203331' },
      },
    },
    promised: true,
  },
  {
    name: '10 kB of structure',
    message: { jsonrpc: '2.0', id: 1, result: { items: items(80) } },
    promised: true,
  },
  { name: '100 kB of text', message: textResult(words.repeat(880)), promised: true },
  {
    name: '2 MB of base64',
    message: { jsonrpc: '2.0', id: 1, result: { data: randomBytes(1_500_000).toString('base64') } },
    promised: true,
  },
  {
    name: '300 B with a secret',
    message: {
      jsonrpc: '2.0',
      id: 12,
      method: 'tools/call',
      params: {
        name: 'login',
        arguments: { user: 'me', password: 'hunter2', note: words },
        _meta: { a: 'x'.repeat(60) },
      },
    },
    promised: false,
  },
  {
    name: '10 kB with a secret',
    message: { jsonrpc: '2.0', id: 1, result: { token: 'x', items: items(80) } },
    promised: false,
  },
  {
    name: '100 kB with a secret',
    message: textResult(`${words.repeat(880)}Authorization: Basic dXNlcjpwYXNz`),
    promised: false,
  },
]

/**
 * MB/s of UTF-8, in each round.
 *
 * @param {string} text
 * @param {(text: string) => unknown} work
 * @param {{ rounds: number, bytes: number }} plan
 */
function rates(text, work, { rounds, bytes }) {
  const sizeBytes = Buffer.byteLength(text)
  const count = Math.max(2, Math.round(bytes / sizeBytes))
  return Array.from({ length: rounds + 1 }, () => {
    const start = performance.now()
    for (let i = 0; i < count; i++) work(text)
    return (sizeBytes * count) / 1000 / (performance.now() - start)
  }).slice(1)
}

/** @param {{ quick: boolean, say: (line: string) => void }} options */
export async function run({ quick, say }) {
  /** @type {typeof import('../src/redaction/index.js')} */
  const { Redactor } = await import(pathToFileURL(join(root, 'dist/redaction/index.js')).href)
  const key = randomBytes(32)
  const redactor = new Redactor({
    defaults: true,
    tag: (secret) => createHmac('sha256', key).update(secret).digest('base64url'),
  })
  const plan = quick ? { rounds: 3, bytes: 3_000_000 } : { rounds: 9, bytes: 30_000_000 }
  const measures = []
  for (const { name, message } of MESSAGES) {
    say(`${name}…`)
    // The text is decoded from bytes, as on the wire: a concatenated string has another layout in memory.
    const text = Buffer.from(JSON.stringify(message)).toString()
    const ours = rates(text, (text) => redactor.json(text), plan)
    const bare = rates(text, (text) => JSON.stringify(JSON.parse(text)), plan)
    const values = { [OURS]: median(ours), [BARE]: median(bare) }
    measures.push({
      name,
      unit: 'MB/s',
      values,
      rounds: { [OURS]: ours, [BARE]: bare },
      ratio: median(ours) / median(bare),
    })
  }
  const verdicts = measures
    .filter((_, i) => MESSAGES[i]?.promised)
    .map(({ name, ratio }) => ({
      promise: `${name} without secrets: at least as fast as ${BARE}`,
      measured: `${ratio.toFixed(1)} ×`,
      kept: ratio >= 1,
    }))
  return { lanes: [OURS, BARE], measures, verdicts, books: { problems: [] } }
}
