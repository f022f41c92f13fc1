import type { Rule } from './finding.js'
import { at, isMap } from './json.js'
import { offersIn } from './server-state.js'

/**
 * Tokens of a text, estimated: one for four characters. It is no tokenizer: each model has its own, and the estimate
 * lies within a third of them for English and JSON.
 */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}
export const estimator = 'characters / 4'

/** One thing that a server offers, and what it costs in each prompt. */
export interface DefinitionCost {
  readonly server: string
  readonly kind: string
  readonly name: string
  /** Characters of the whole definition, of its description and of its schemas. */
  readonly characters: number
  readonly description: number
  readonly schemas: number
  /** Calls, reads or gets on the recording, and the characters of their results. */
  calls: number
  results: number
  /** Of the largest one. */
  largest: number
}

/** Sums what definitions and results cost. */
export interface CostTable {
  /** Watches recordings as a rule that finds nothing. */
  readonly rule: Rule
  /** Heaviest first: definitions that were never called count as much as those that were. */
  rows(): DefinitionCost[]
}

const mostRows = 20_000
const callers: Readonly<Record<string, string>> = {
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
}

export function createCostTable(): CostTable {
  const table = new Map<string, DefinitionCost>()
  return {
    rows: () => [...table.values()].toSorted((a, b) => b.characters - a.characters || b.results - a.results),
    rule: {
      info: {
        id: 'cost/table',
        pack: 'contract',
        level: 'note',
        certainty: 'exact',
        title: 'Sums what definitions and results cost.',
        help: 'It finds nothing.',
        source: { name: 'wiretape', url: '' },
      },
      begin: ({ server }) => ({
        message(message) {
          const own = (): string => server.name ?? ''
          for (const { kind, name, value } of offersIn(message)) {
            const key = `${own()}\u0000${kind}\u0000${name}`
            const known = table.get(key)
            if (!known && table.size >= mostRows) continue
            const sizes = {
              characters: JSON.stringify(value).length,
              description: typeof value['description'] === 'string' ? value['description'].length : 0,
              schemas: sizeOf(at(value, 'inputSchema')) + sizeOf(at(value, 'outputSchema')),
            }
            const { calls, results, largest } = known ?? { calls: 0, results: 0, largest: 0 }
            table.set(key, { server: own(), kind, name, ...sizes, calls, results, largest })
          }
          const kind = callers[message.method]
          const name = message.asked?.subject
          if (!message.isAnswer || kind === undefined || name === undefined) return
          const row = table.get(`${own()}\u0000${kind}\u0000${name}`)
          if (!row) return
          const size = message.part.end - message.part.start
          row.calls += 1
          row.results += size
          row.largest = Math.max(row.largest, size)
        },
      }),
    },
  }
}

function sizeOf(value: unknown): number {
  return isMap(value) ? JSON.stringify(value).length : 0
}
