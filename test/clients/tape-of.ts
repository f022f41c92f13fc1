/** Reads a tape without wiretape's code, to compare it with what a client saw. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { wiretape } from '../behaviour/run-cli.js'

export interface TapeMessage {
  readonly dir: 'in' | 'out'
  readonly raw: {
    readonly id?: unknown
    readonly method?: string
    readonly params?: { readonly name?: string; readonly requestId?: unknown }
  }
  /** Exact text of the message. */
  readonly text: string
  readonly id: string
  readonly corr?: string
  readonly linked?: readonly { kind: string; to: string }[]
  readonly http?: { readonly status?: number }
}

export function messagesOf(tape: string): TapeMessage[] {
  const lines = readFileSync(tape, 'utf8').trimEnd().split('\n')
  const records = lines.map((line) => ({
    ...JSON.parse(line),
    text: /"raw":(\{[^\n]*\}),"id":"/.exec(line)?.[1],
  }))
  expect(records.at(-1)).toMatchObject({ type: 'end' })
  return records.filter((record) => record.type === undefined)
}

/** Every response names its request, and no other message names one as its request. */
export function expectCorrelated(messages: readonly TapeMessage[]): void {
  const open = new Map<string, string>()
  const keyOf = (dir: string, id: unknown): string => `${dir} ${JSON.stringify(id)}`
  for (const { dir, raw, id, corr } of messages) {
    if (raw.method !== undefined) {
      expect(corr).toBeUndefined()
      if (raw.id !== undefined) open.set(keyOf(dir, raw.id), id)
    } else {
      const key = keyOf(dir === 'in' ? 'out' : 'in', raw.id)
      expect({ raw, corr }).toEqual({ raw, corr: open.get(key) ?? 'the id of its request' })
      open.delete(key)
    }
  }
}

/** Ids that client and server both used for their own requests. */
export function overlappingIds(messages: readonly TapeMessage[]): unknown[] {
  const idsOf = (dir: string): unknown[] =>
    messages.filter(({ raw, ...m }) => m.dir === dir && raw.method !== undefined).map(({ raw }) => raw.id)
  const own = new Set(idsOf('in'))
  return idsOf('out').filter((id) => id !== undefined && own.has(id))
}

export async function expectFaultless(tape: string): Promise<void> {
  const { stdout, code } = await wiretape(['inspect', '--check', tape])
  expect(stdout).toMatch(/no faults\n( +redacted .*\n)?$/)
  expect(code).toBe(0)
}
