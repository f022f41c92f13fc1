import { formatDuration } from '../../../render/index.js'
import type { Rule, RuleInfo } from '../../finding.js'
import { createCostTable, estimateTokens, estimator } from '../../cost.js'
import { offersIn } from '../../server-state.js'

/** Requirements on a recording, as written by the user. */
export interface Contract {
  /** Tools that must be called, and tools that must not. */
  readonly expectTools?: readonly string[]
  readonly forbidTools?: readonly string[]
  /** Milliseconds by tool; `*` for all others. */
  readonly maxLatency?: ReadonlyMap<string, number>
  readonly maxErrors?: number
  /** Estimated tokens of all definitions. */
  readonly maxContext?: number
  /** Known tools; any other tool is a finding. */
  readonly knownTools?: ReadonlySet<string>
}

const info = (name: string, title: string): RuleInfo => ({
  id: `contract/${name}`,
  pack: 'contract',
  level: 'error',
  certainty: 'exact',
  title,
  help: 'The recording does not meet your expectation. Change the server or the expectation.',
  source: { name: 'your own expectations', url: 'https://modelcontextprotocol.io/' },
})

export function contractRules(contract: Contract): Rule[] {
  return [calls(contract), latency(contract), errors(contract), context(contract)]
}

function calls({ expectTools = [], forbidTools = [], knownTools }: Contract): Rule {
  return {
    info: info('tools', 'An expected tool was not called, a forbidden tool was called, or a tool is new.'),
    begin(_, say) {
      const missing = new Set(expectTools)
      const told = new Set<string>()
      return {
        message(message) {
          for (const { kind, name, at } of knownTools ? offersIn(message) : []) {
            if (kind !== 'tool' || knownTools!.has(name) || told.has(name) || told.size > 10_000) continue
            told.add(name)
            say(message, { message: `${name} is a new tool`, at, tool: name, what: 'new' })
          }
          if (!message.asks('tools/call') || message.tool === undefined) return
          missing.delete(message.tool)
          if (forbidTools.includes(message.tool))
            say(message, { message: `the forbidden tool ${message.tool} was called`, what: 'forbidden' })
        },
        end() {
          for (const tool of missing)
            say(undefined, { message: `the tool ${tool} was never called`, tool, what: 'missing' })
        },
      }
    },
  }
}

function latency({ maxLatency }: Contract): Rule {
  return {
    info: info('latency', 'A call took longer than allowed.'),
    begin: ({ fold }, say) => ({
      message(message) {
        if (!maxLatency || !message.answers('tools/call')) return
        const limit = maxLatency.get(message.tool ?? '') ?? maxLatency.get('*')
        const us = fold.entries.latencyUs(message.row)
        if (limit === undefined || us === undefined || us <= limit * 1000) return
        const took = `${formatDuration(us)}, more than ${formatDuration(limit * 1000)}`
        say(message, { message: `${message.tool ?? 'a call'} took ${took}`, also: [message.asked!.row] })
      },
    }),
  }
}

function errors({ maxErrors }: Contract): Rule {
  return {
    info: info('errors', 'More calls failed than allowed.'),
    begin(_, say) {
      const failed: number[] = []
      return {
        message(message) {
          const { kind, toolError } = message.part.envelope
          if (message.fromServer && (kind === 'error' || toolError) && failed.length < 1_000_000)
            failed.push(message.row)
        },
        end() {
          if (maxErrors === undefined || failed.length <= maxErrors) return
          say(failed[maxErrors], {
            message: `${failed.length} calls failed, more than ${maxErrors}`,
            also: failed.slice(maxErrors + 1, maxErrors + 20),
            what: 'count',
          })
        },
      }
    },
  }
}

function context({ maxContext }: Contract): Rule {
  return {
    info: info('context', 'The definitions of the server cost more than allowed.'),
    begin(scope, say) {
      const cost = createCostTable()
      const watch = cost.rule.begin(scope, say)
      return {
        ...watch,
        end() {
          if (maxContext === undefined) return
          const rows = cost.rows()
          const tokens = estimateTokens(rows.reduce((sum, { characters }) => sum + characters, 0))
          if (tokens <= maxContext) return
          const heaviest = rows
            .slice(0, 3)
            .map(({ name, characters }) => `${name} ${estimateTokens(characters)}`)
          say(undefined, {
            message: `about ${tokens} tokens of definitions (${estimator}), more than ${maxContext}: ${heaviest.join(', ')}`,
            what: 'context',
          })
        },
      }
    },
  }
}
