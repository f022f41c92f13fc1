// @ts-check
/** Checks the tape of a load test, without wiretape's code. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { ways } from './client.mjs'

/**
 * @param {string} path
 * @param {number} clients
 * @param {number} calls Calls of each client.
 * @returns {Promise<{ messages: number, problems: string[] }>}
 */
export async function checkLoadTape(path, clients, calls) {
  /** @type {string[]} */
  const problems = []
  /**
   * The id of the record and the conversation of each call, by its text. @type {Map<string, { id: string, conv: string
   * }>}
   */
  const asked = new Map()
  /** @type {Map<string, string>} */
  const progress = new Map()
  /** @type {Map<number, Set<string>>} */
  const conversations = new Map()
  let answered = 0
  let messages = 0
  let last
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const record = JSON.parse(line)
    last = record
    if (record.type === 'gap') problems.push(`a gap: ${record.why}`)
    if (record.type !== undefined) continue
    if (record.seq !== messages) problems.push(`number ${record.seq} where ${messages} is due`)
    messages += 1
    const { id, raw, conv, corr, linked } = record
    if (raw.method === 'tools/call') {
      const { text } = raw.params.arguments
      if (asked.has(text)) problems.push(`${text}: asked twice`)
      asked.set(text, { id, conv })
      const client = Number(/\d+/.exec(text))
      conversations.set(client, (conversations.get(client) ?? new Set()).add(conv))
    } else if (raw.result?.content) {
      const [{ text }] = raw.result.content
      const request = asked.get(text)
      if (corr !== request?.id) problems.push(`${text}: its answer belongs to ${corr}, not to ${request?.id}`)
      else answered += 1
      if (conv !== request?.conv) problems.push(`${text}: its answer is in another conversation`)
    } else if (raw.method === 'notifications/progress') {
      progress.set(linked?.[0]?.to, id)
    }
  }
  if (last?.type !== 'end') problems.push('it has no end')
  if (asked.size !== clients * calls) problems.push(`${asked.size} calls instead of ${clients * calls}`)
  if (answered !== clients * calls) problems.push(`${answered} answers instead of ${clients * calls}`)
  for (const [text, { id }] of asked) {
    const way = ways[Number(/\d+/.exec(text)) % ways.length]
    if (way === 'stream' && !progress.has(id)) problems.push(`${text}: its progress is not linked`)
  }
  const named = new Map()
  for (const [client, of] of conversations) {
    if (ways[client % ways.length] === 'json') continue
    if (of.size !== 1) problems.push(`client ${client} has ${of.size} conversations`)
    for (const name of of) {
      if (named.has(name)) problems.push(`clients ${named.get(name)} and ${client} share a conversation`)
      named.set(name, client)
    }
  }
  return { messages, problems }
}
