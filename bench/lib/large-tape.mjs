// @ts-check
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { identity } from '../../test/fixtures/identity.mjs'

const words =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  )
const tools = ['read_file', 'write_file', 'search', 'list_dir', 'run_query', 'fetch_url', 'echo', 'get-sum']

/** A word in exactly one message, in the middle of the tape. */
export const needle = 'needle-in-a-haystack'

/** A word in one of a thousand messages. */
export const rare = 'once-in-a-thousand'

/**
 * Writes a tape of `messages` messages, about 395 bytes each, unless the file exists.
 *
 * @param {string} path
 * @param {number} messages
 */
export function makeLargeTape(path, messages) {
  try {
    return statSync(path).size
  } catch {
    // The file does not exist yet.
  }
  const fd = openSync(`${path}.new`, 'w')
  let pending = ''
  const put = (/** @type {string} */ line) => {
    pending += `${line}\n`
    if (pending.length < 1 << 22) return
    writeSync(fd, pending)
    pending = ''
  }
  let state = 12345
  const random = () => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff
  const pick = (/** @type {string[]} */ list) => list[Math.floor(random() * list.length)] ?? ''
  const text = (/** @type {number} */ length) => {
    let made = ''
    while (made.length < length) made += `${pick(words)} `
    return made
  }
  const start = Date.parse('2026-08-01T10:00:00Z')
  const own = { ...identity, session: randomUUID() }
  const startedAt = new Date(start).toISOString()
  put(
    JSON.stringify({
      v: 1,
      type: 'meta',
      startedAt,
      label: 'large',
      command: ['server'],
      wiretape: own,
    }),
  )
  let us = 1000
  for (let id = 0; id < messages / 2; id += 1) {
    const [asked, answered] = [randomUUID(), randomUUID()]
    us += 200 + Math.floor(random() * 2000)
    const params = { name: pick(tools), arguments: { path: `/srv/data/${id}.txt`, query: text(60) } }
    const request = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
    put(
      `{"t":"${new Date(start + us / 1000).toISOString()}","dir":"in","raw":${request},"id":"${asked}","seq":${2 * id},"us":${us}}`,
    )
    us += 100 + Math.floor(random() * random() * 5000)
    const word = id === Math.floor(messages / 4) ? needle : id % 500 === 250 ? rare : ''
    const said = word === '' ? text(220) : `${word} ${text(200)}`
    const answer = JSON.stringify(
      id % 97 === 0
        ? { jsonrpc: '2.0', id, error: { code: -32603, message: text(80) } }
        : { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } },
    )
    put(
      `{"t":"${new Date(start + us / 1000).toISOString()}","dir":"out","raw":${answer},"id":"${answered}","corr":"${asked}","seq":${2 * id + 1},"us":${us}}`,
    )
  }
  put(
    JSON.stringify({
      t: new Date(start + us / 1000).toISOString(),
      type: 'end',
      exitCode: 0,
      durationMs: us / 1000,
      wiretape: { messages },
    }),
  )
  writeSync(fd, pending)
  closeSync(fd)
  renameSync(`${path}.new`, path)
  return statSync(path).size
}
