import { describe, expect, it } from 'vitest'
import { isFault, messagesIn, messagesOf, readFrame, readMessages } from '../../src/wire/index.js'

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}'

describe('the messages of a text', () => {
  it('are read with their exact texts, alone and as a batch', () => {
    const alone = readMessages(` ${ping}\n`)
    expect(isFault(alone) || [alone.batch, alone.text]).toEqual([false, ping])
    const batch = readMessages(`[${ping}, ${pong}]`)
    expect(isFault(batch) || messagesOf(batch).map(({ text, envelope }) => [text, envelope.kind])).toEqual([
      [ping, 'request'],
      [pong, 'result'],
    ])
  })

  it('are a fault where the text is no JSON, and an invalid message where it is JSON of another kind', () => {
    expect(isFault(readMessages('{"a":'))).toBe(true)
    expect(isFault(readMessages(''))).toBe(true)
    const other = readMessages('5')
    expect(isFault(other) || messagesOf(other)).toMatchObject([{ text: '5', envelope: { kind: 'invalid' } }])
    expect(readFrame('5')).toBeUndefined()
    expect(readFrame('{"a":1}')).toMatchObject({ parts: [{ envelope: { kind: 'invalid' } }] })
  })

  it('stand on one line each where they cross a line-based transport, and must speak JSON-RPC there', () => {
    expect(messagesIn(`[\n${ping},\r\n${pong.replace('{', '{\n')}]`)?.map(({ text }) => text)).toEqual([
      ping,
      pong.replace('{', '{ '),
    ])
    expect(messagesIn('{"a":1}')).toBeUndefined()
    expect(messagesIn(`[${ping},5]`)).toBeUndefined()
  })
})
