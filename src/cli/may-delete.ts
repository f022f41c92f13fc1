import { policyInForce } from '../capture/index.js'
import { isShipped } from '../tape/index.js'

/** Whether the files of a recording may be deleted. */
export type MayDelete = (files: readonly string[]) => boolean

/**
 * If the policy names a store, recordings that are not in it yet are not deleted; with an unreadable policy, none
 * are.
 */
export async function mayDeleteNow(): Promise<MayDelete> {
  const inForce = await policyInForce()
  if (inForce.kind === 'broken') return () => false
  const target = inForce.kind === 'policy' ? inForce.policy.shipTo?.value : undefined
  if (target === undefined) return () => true
  return (files) => files.every((file) => isShipped(file, target))
}
