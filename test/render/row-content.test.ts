import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowContent } from '../../src/render/index.js'
import type { MessageRecord } from '../../src/model/index.js'
import { readEnvelope } from '../../src/wire/index.js'
import { runs } from '../long.js'

function contentOf(text: string, asked?: string): string {
  const envelope = readEnvelope(text, 0)
  const part = { start: 0, end: text.length, envelope }
  const record = { type: 'message', raw: text, parts: [part] } as unknown as MessageRecord
  return rowContent(record, part, envelope.kind, asked === undefined ? undefined : { method: asked })
}
const request = (method: string, params: unknown): string =>
  contentOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
const notification = (method: string, params: unknown): string =>
  contentOf(JSON.stringify({ jsonrpc: '2.0', method, params }))
const result = (method: string, value: unknown): string =>
  contentOf(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }), method)
const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })

describe('the content of a row', () => {
  it.each([
    ['arguments', request('tools/call', { name: 'add', arguments: { a: 2, b: 'x' } }), 'a: 2, b: "x"'],
    ['no arguments', request('tools/call', { name: 'add' }), ''],
    [
      'arguments of a prompt',
      request('prompts/get', { name: 'p', arguments: { city: 'Rome' } }),
      'city: "Rome"',
    ],
    ['a subject that the row has', request('resources/read', { uri: 'file:///a' }), ''],
    [
      'a client',
      request('initialize', { protocolVersion: '2025-11-25', clientInfo: { name: 'c', version: '1' } }),
      'c 1, MCP 2025-11-25',
    ],
    ['metadata only', request('tools/list', { _meta: { progressToken: 1 } }), ''],
    ['a cursor', request('tools/list', { cursor: 'abc' }), 'cursor: "abc"'],
    [
      'progress',
      notification('notifications/progress', {
        progressToken: 1,
        progress: 120,
        total: 720,
        message: 'half',
      }),
      '120/720 half',
    ],
    [
      'progress without a total',
      notification('notifications/progress', { progressToken: 1, progress: 3 }),
      '3',
    ],
    [
      'a log',
      notification('notifications/message', { level: 'warning', logger: 'db', data: 'slow\nquery' }),
      'warning db: slow query',
    ],
    [
      'a log of an object',
      notification('notifications/message', { level: 'info', data: { a: 1 } }),
      'info: {"a":1}',
    ],
    [
      'a cancellation',
      notification('notifications/cancelled', { requestId: 7, reason: 'timeout' }),
      '7 timeout',
    ],
    [
      'a question',
      request('elicitation/create', { message: 'Which city?', requestedSchema: {} }),
      'Which city?',
    ],
    [
      'sampling with several blocks',
      request('sampling/createMessage', {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      }),
      'Hello',
    ],
    [
      'a sampled message',
      result('sampling/createMessage', {
        role: 'assistant',
        model: 'm',
        content: { type: 'text', text: 'Hello\nyou' },
      }),
      'Hello …',
    ],
    [
      'a new task',
      result('tools/call', { task: { taskId: 'T', status: 'working', ttl: 1 } }),
      'task created',
    ],
    [
      'a new task of 2026-07-28',
      result('tools/call', { resultType: 'task', taskId: 'T', status: 'working', statusMessage: 'begun' }),
      'task created: begun',
    ],
    [
      'a poll',
      result('tasks/get', { taskId: 'T', ttl: 1, status: 'working', statusMessage: 'half' }),
      'working: half',
    ],
    [
      'the end of a task',
      result('tasks/get', { taskId: 'T', status: 'completed', result: text('done') }),
      'completed: done',
    ],
    [
      'a failed task',
      result('tasks/get', { taskId: 'T', status: 'failed', error: { code: 1, message: 'No paint' } }),
      'failed: No paint',
    ],
    ['a status', notification('notifications/tasks/status', { taskId: 'T', status: 'working' }), 'working'],
    [
      'sampling',
      request('sampling/createMessage', {
        messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
      }),
      'Hello',
    ],
    ['the first line of a result', result('tools/call', text('first\nsecond')), 'first …'],
    ['indented JSON', result('tools/call', text('{\n  "a": 1\n}')), '{ "a": 1 }'],
    ['one line', result('tools/call', text('all of it\n')), 'all of it'],
    [
      'an image',
      result('tools/call', { content: [{ type: 'image', data: 'x', mimeType: 'image/png' }] }),
      '[image image/png]',
    ],
    [
      'structured content alone',
      result('tools/call', { content: [], structuredContent: { sum: 5 } }),
      'sum: 5',
    ],
    ['a resource', result('resources/read', { contents: [{ uri: 'a', text: 'words' }] }), 'words'],
    [
      'a prompt',
      result('prompts/get', { messages: [{ role: 'user', content: { type: 'text', text: 'Say it' } }] }),
      'Say it',
    ],
    ['tools', result('tools/list', { tools: [{ name: 'a' }, { description: 'x', name: 'b' }] }), 'a, b'],
    [
      'a server',
      result('initialize', { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '2' } }),
      's 2, MCP 2025-11-25',
    ],
    ['a failure without words', result('tools/call', { content: [], isError: true }), ''],
    ['an empty result', result('ping', {}), ''],
    ['hostile text', result('tools/call', text('\u001b[31mred\u202e')), String.raw`\u{1b}[31mred\u{202e}`],
  ])('%s', (_, found, expected) => {
    expect(found).toBe(expected)
  })

  it('is short, however long the message is', () => {
    const long = 'word '.repeat(100_000)
    expect(result('tools/call', text(long))).toHaveLength(200)
    expect(request('tools/call', { name: 'x', arguments: { q: long } })).toHaveLength(200)
    const tools = Array.from({ length: 1_000 }, (_value, i) => ({
      name: `tool-${i}`,
      description: long.slice(0, 400),
    }))
    expect(result('tools/list', { tools })).toMatch(/^tool-0, tool-1, tool-2/)
  })

  it('has an end for whatever stands there, also cut off', () => {
    const methods = fc.constantFrom(
      'tools/call',
      'tools/list',
      'initialize',
      'prompts/get',
      'x',
      'notifications/progress',
    )
    fc.assert(
      fc.property(fc.jsonValue(), methods, fc.boolean(), fc.nat(), (value, method, isResult, pad) => {
        const whole = isResult ? { id: 1, result: value } : { method, params: value }
        const found = contentOf(
          JSON.stringify({ jsonrpc: '2.0', pad: 'p'.repeat(pad % 8_300), ...whole }),
          method,
        )
        expect(found.length).toBeLessThan(2_500)
        expect(found).not.toMatch(/[\n\u001b]/)
      }),
      { numRuns: runs(2_000) },
    )
  })
})
