import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { protocolSchema } from '../../src/findings/mcp-schemas/index.js'
import { definitions, revisions } from '../../src/findings/mcp-schemas/definitions.js'
import { ask, askClient, called, findingsIn, fromServer, listed, opened, tapeOf } from './stage.js'

/** Another maker's validator with the same definitions. */
function judgeOf(revision: string): (name: string, value: unknown) => boolean {
  const entries = revisions[revision]!.split(' ').map((entry) => {
    const [name, index] = entry.split('=')
    return [name!, JSON.parse(definitions[Number(index)]!) as object] as const
  })
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema({ $id: 'mcp', $defs: Object.fromEntries(entries) })
  return (name, value) => ajv.getSchema(`mcp#/$defs/${name}`)!(value) === true
}

const values: Readonly<Record<string, unknown>> = {
  ListToolsResult: {
    resultType: 'complete',
    ttlMs: 1,
    cacheScope: 'private',
    tools: [
      { name: 'x', inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true } },
    ],
  },
  CallToolResult: {
    resultType: 'complete',
    content: [
      { type: 'text', text: 'a', annotations: { priority: 0.5, audience: ['user'] } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///x', text: 'x' } },
    ],
    isError: false,
  },
  CallToolRequest: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'x', arguments: { a: [1] } },
  },
  ProgressNotification: {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 'x', progress: 1, total: 2 },
  },
  CreateMessageResult: { model: 'm', role: 'assistant', content: { type: 'text', text: 'x' } },
}

/** A copy of the value with one member, at any depth, replaced or removed. */
function changed(value: unknown, place: number, by: unknown): unknown {
  let left = place
  const walk = (part: unknown): unknown => {
    if ((left -= 1) === -1) return by
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, member]) => {
        const made = walk(member)
        return made === undefined ? [] : [[name, made]]
      }),
    )
  }
  return walk(value)
}

describe.each(Object.keys(revisions))('the schema of %s', (revision) => {
  const judge = judgeOf(revision)
  const schema = protocolSchema(revision)!

  it('judges messages with a change in any place as another validator does', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(values)),
        fc.nat(40),
        fc.oneof(
          fc.constantFrom(undefined, null, {}, [], 'text', 'image', 'user', '2.0', 1.5, true),
          fc.jsonValue(),
        ),
        (name, place, by) => {
          const value = changed(values[name], place, by)
          if (value === undefined) return
          const faults = schema.faults(name, value as never, () => new Set())
          expect(faults.length === 0).toBe(judge(name, value))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('protocol/schema', () => {
  const found = (...lines: Parameters<typeof tapeOf>[0]): string[] =>
    findingsIn([tapeOf(lines)])
      .filter(({ rule }) => rule.id === 'protocol/schema')
      .map(({ message, at }) => `${at ?? ''} ${message}`)

  it('names the place, and of alternatives reports the intended one', () => {
    expect(
      found(
        ...opened(),
        ...listed({ name: 'x', description: null }),
        ...called('x', {}, { content: [{ type: 'text', value: 'x' }] }),
        fromServer('notifications/progress', { progressToken: 1, progress: '3' }),
        ...askClient('roots/list', {}, { roots: [{ name: 'x' }] }),
      ),
    ).toEqual([
      '/result/tools/0/description the result of tools/list does not match the schema of 2025-11-25: /result/tools/0/description is null, not string',
      '/result/content/0 the result of tools/call does not match the schema of 2025-11-25: /result/content/0 has no "text"',
      '/params/progress notifications/progress does not match the schema of 2025-11-25: /params/progress is a string, not number',
      '/result/roots/0 the result of roots/list does not match the schema of 2025-11-25: /result/roots/0 has no "uri"',
    ])
  })

  it('accepts a task, a result that requests input, and a method of no specification', () => {
    const task = { taskId: 't', status: 'working', ttl: null, createdAt: 'x', lastUpdatedAt: 'x' }
    expect(
      found(
        ...opened(),
        ...ask('tools/call', { name: 'x', task: {} }, { task }),
        ...ask('vendor/x', null, { content: 1 }),
      ),
    ).toEqual([])
  })

  it('reports nothing for an unknown version', () => {
    expect(found(...opened({ version: '1999-01-01' }), ...called('x', {}, { content: null }))).toEqual([])
  })
})
