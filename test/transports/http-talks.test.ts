import { describe, expect, it } from 'vitest'
import { createConversations } from '../../src/transports/http-proxy/conversations.js'
import { createTalks } from '../../src/transports/http-proxy/talks.js'

const headOf = (connection: number, exchange = connection) => ({
  exchange,
  connection,
  conversation: `connection-${connection}`,
  method: 'POST',
  path: `/mcp?${exchange}`,
  headers: [],
})

describe('the last POST of each conversation', () => {
  it('is kept, the latest last', () => {
    const talks = createTalks(createConversations(undefined))
    for (const connection of [1, 2, 3]) talks.posted(headOf(connection))
    talks.posted(headOf(1, 4))
    expect(talks.posts().map(({ connection, path }) => [connection, path])).toEqual([
      [2, '/mcp?2'],
      [3, '/mcp?3'],
      [1, '/mcp?4'],
    ])
  })

  it('is forgotten for the conversation that was silent longest, beyond 256', () => {
    const talks = createTalks(createConversations(undefined))
    for (let connection = 0; connection < 256; connection += 1) talks.posted(headOf(connection))
    talks.posted(headOf(0, 1000))
    talks.posted(headOf(256))
    const kept = talks.posts().map(({ connection }) => connection)
    expect(kept).toHaveLength(256)
    expect(kept).not.toContain(1)
    expect(kept.slice(-2)).toEqual([0, 256])
  })
})
