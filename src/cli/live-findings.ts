import { createFindingsGuard, type FindingAction, type MakeGuard } from '../capture/index.js'

import { rules as allRules, type Rule } from '../findings/index.js'
import { WiretapeError } from '../model/index.js'
import { escapeText } from '../render/index.js'
import type { Io } from './io.js'
import { readLock } from './pin/lock-file.js'
import type { RecordOptions } from './record-flag.js'

/**
 * The guard for `--on-finding` and `--pin`, which checks live messages.
 *
 * @throws WiretapeError `usage`
 */
export async function liveFindings(
  { onFinding = [], pin, onDrift = 'note', onUnattended = 'forward' }: RecordOptions,
  io: Io,
): Promise<MakeGuard> {
  const rules = onFinding.map(([id, action]) => [ruleOf(id, action), action] as const)
  if (pin === undefined) return createFindingsGuard({ rules, onUnattended })
  const servers = await readLock(pin, io)
  if (!servers)
    throw new WiretapeError('usage', `there is no ${escapeText(pin)}`, {
      hint: 'create one with wiretape pin -- CMD',
    })
  return createFindingsGuard({ rules, onUnattended, pins: { servers, action: onDrift } })
}

function ruleOf(id: string, action: FindingAction): Rule {
  const live = allRules.filter(({ info }) => info.live && (action === 'note' || info.certainty === 'exact'))
  const found = live.find(({ info }) => info.id === id)
  if (found) return found
  const known = allRules.find(({ info }) => info.id === id)
  const why = !known
    ? `unknown rule ${JSON.stringify(id)}`
    : known.info.live
      ? `${id} is a ${known.info.certainty}: it can only note, not ${action}`
      : `${id} needs the whole recording and cannot check live messages`
  throw new WiretapeError('usage', `--on-finding: ${why}`, {
    hint: `rules that can ${action}: ${live.map(({ info }) => info.id).join(', ')}`,
  })
}
