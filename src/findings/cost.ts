import type { Rule } from './finding.js'
import { at, isMap } from './json.js'
import type { Message } from './message.js'
import { offersIn } from './server-state.js'
import { createTaskResults } from './task-results.js'

/**
 * Estimated tokens of a text: one per four characters. Not a tokenizer: each model has its own, and the estimate is
 * within a third of them for English and JSON.
 */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}
export const estimator = 'characters / 4'

/** Characters of a whole definition, its description and its schemas. */
export interface DefinitionSizes {
  readonly characters: number
  readonly description: number
  readonly schemas: number
}

/** One definition of a server, and its cost in each prompt. */
export interface DefinitionCost extends DefinitionSizes {
  readonly server: string
  readonly kind: string
  readonly name: string
  /** Recorded calls, reads or gets, and the characters of their results. */
  calls: number
  results: number
  /** Characters of the largest result. */
  largest: number
}

/** Sums the costs of definitions and results. */
export interface CostTable {
  /** Observes recordings as a rule without findings. */
  readonly rule: Rule
  /** Heaviest first; includes definitions that were never called. */
  rows(): DefinitionCost[]
}

const mostRows = 20_000
const callers: Readonly<Record<string, string>> = {
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
}

/** Observes the table, for sums over parts of a recording. */
export interface CostObserver {
  listed(key: string, sizes: DefinitionSizes): void
  /**
   * Called once per call.
   *
   * @param row of the response
   * @param characters 0 for a response that created a task
   */
  called(key: string, row: number, characters: number): void
  /** Called for the result of a task. @param row of the response that created it */
  taskEnded(key: string, row: number, characters: number): void
}

/** Identifies a definition in the table. */
export function costKey(server: string, kind: string, name: string): string {
  return `${server}\u0000${kind}\u0000${name}`
}

export function createCostTable(observer?: CostObserver): CostTable {
  const table = new Map<string, DefinitionCost>()

  function takeOffers(message: Message, server: string): void {
    for (const { kind, name, value } of offersIn(message)) {
      const key = costKey(server, kind, name)
      const known = table.get(key)
      if (!known && table.size >= mostRows) continue
      const sizes = {
        characters: JSON.stringify(value).length,
        description: typeof value['description'] === 'string' ? value['description'].length : 0,
        schemas: sizeOf(at(value, 'inputSchema')) + sizeOf(at(value, 'outputSchema')),
      }
      const { calls, results, largest } = known ?? { calls: 0, results: 0, largest: 0 }
      table.set(key, { server, kind, name, ...sizes, calls, results, largest })
      observer?.listed(key, sizes)
    }
  }

  function addResult(key: string, characters: number): void {
    const row = table.get(key)!
    row.results += characters
    row.largest = Math.max(row.largest, characters)
  }

  return {
    rows: () => [...table.values()].toSorted((a, b) => b.characters - a.characters || b.results - a.results),
    rule: {
      info: {
        id: 'cost/table',
        pack: 'contract',
        level: 'note',
        certainty: 'exact',
        title: 'Sums the cost of definitions and results.',
        help: 'This rule has no findings.',
        source: { name: 'wiretape', url: '' },
      },
      begin({ server, fold }) {
        const tasks = createTaskResults<string>(fold)
        return {
          message(message) {
            const own = server.name ?? ''
            takeOffers(message, own)
            const ended = tasks.take(message)
            if (ended) {
              addResult(ended.value, ended.characters)
              observer?.taskEnded(ended.value, ended.answer, ended.characters)
              return
            }
            const kind = callers[message.method]
            const name = message.asked?.subject
            if (!message.isAnswer || kind === undefined || name === undefined) return
            const key = costKey(own, kind, name)
            const row = table.get(key)
            if (!row) return
            row.calls += 1
            const { createsTask } = message.part.envelope
            if (createsTask) tasks.created(message, key)
            // The response that creates a task is a receipt; models read the result.
            const characters = createsTask ? 0 : message.part.end - message.part.start
            addResult(key, characters)
            observer?.called(key, message.row, characters)
          },
        }
      },
    },
  }
}

function sizeOf(value: unknown): number {
  return isMap(value) ? JSON.stringify(value).length : 0
}
