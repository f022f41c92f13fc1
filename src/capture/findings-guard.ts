import {
  createLiveFindings,
  definitionDrift,
  type Finding,
  type PinnedServer,
  type Rule,
} from '../findings/index.js'
import type { GuardVerdict } from '../intercept/index.js'
import type { MessageRecord } from '../model/index.js'
import { idKey } from '../wire/index.js'
import type { MakeGuard } from './live-context.js'

/** Fate of a message with a finding. */
export type FindingAction = GuardVerdict['kind']

export interface FindingsGuardOptions {
  readonly rules: readonly (readonly [rule: Rule, action: FindingAction])[]
  /** Pinned definitions, and the fate of a differing one. */
  readonly pins?: { readonly servers: ReadonlyMap<string, PinnedServer>; readonly action: FindingAction }
  /** Fate of a message that a rule would hold while no screen is attached. */
  readonly onUnattended: 'forward' | 'block'
}

const gravity: readonly FindingAction[] = ['note', 'hold', 'block']
/** Notes of one rule that are written to the tape; the messages still name the rule. */
const mostNotes = 1_000

/** Checks every message with the rules of findings, and stops it where requested. */
export function createFindingsGuard({ rules, pins, onUnattended }: FindingsGuardOptions): MakeGuard {
  const drift = pins && definitionDrift(pins.servers, false)
  const actions = new Map(rules.map(([{ info }, action]) => [info.id, action]))
  if (drift) actions.set(drift.info.id, pins.action)
  const all = [...rules.map(([rule]) => rule), ...(drift ? [drift] : [])]

  return ({ transport, isAttended, tell }) => {
    const live = createLiveFindings(all, transport, idKey)
    const told = new Map<string, number>()
    let isBroken = false

    function actionOf(finding: Finding): FindingAction {
      const action = actions.get(finding.rule.id) ?? 'note'
      if (action !== 'hold' || isAttended()) return action
      return onUnattended === 'block' ? 'block' : 'note'
    }

    function note({ rule, tool, message }: Finding, action: FindingAction): void {
      const count = (told.get(rule.id) ?? 0) + 1
      told.set(rule.id, count)
      if (count > mostNotes) return
      const wanted = actions.get(rule.id)
      const alone = wanted === 'hold' && action !== 'hold' ? ', because no screen is attached' : ''
      const done = { note: 'found', hold: 'held', block: 'blocked' }[action]
      tell(`${done} by ${rule.id}${tool === undefined ? '' : ` in ${tool}`}: ${message}${alone}`)
    }

    function verdictOf(found: readonly Finding[]): GuardVerdict | undefined {
      if (found.length === 0) return undefined
      const decided = found.map((finding) => [finding, actionOf(finding)] as const)
      for (const [finding, action] of decided) note(finding, action)
      const kind = gravity[Math.max(...decided.map(([, action]) => gravity.indexOf(action)))]!
      const grave = decided.filter(([, action]) => action === kind).map(([finding]) => finding)
      return {
        kind,
        rules: [...new Set(grave.map(({ rule }) => rule.id))].join(', '),
        why: grave[0]!.message,
      }
    }

    return ({ text: raw, batch, parts, subjects }) => {
      if (isBroken) return []
      try {
        return subjects.map(({ direction, conversation }, i) =>
          verdictOf(
            live.take({
              type: 'message',
              t: '',
              direction: direction ?? 'client_to_server',
              raw,
              batch,
              parts: [parts[i]!],
              ...(conversation !== null && { conversation }),
            } satisfies MessageRecord),
          ),
        )
      } catch (problem) {
        // A failing rule is our fault: traffic continues, and the tape shows from when on nothing is checked.
        isBroken = true
        tell(
          `checks stop here, because a rule failed: ${problem instanceof Error ? problem.message : String(problem)}`,
        )
        return []
      }
    }
  }
}
