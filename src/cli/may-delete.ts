import { policyInForce } from '../capture/index.js'
import { isShipped } from '../tape/index.js'

/** Says of the files of a recording whether they may be deleted. */
export type MayDelete = (files: readonly string[]) => boolean

/**
 * Where the policy names a store, nothing is deleted that is not there yet; with a policy that cannot be read, nothing is
 * deleted at all.
 */
export async function mayDeleteNow(): Promise<MayDelete> {
  const inForce = await policyInForce()
  if (inForce.kind === 'broken') return () => false
  const target = inForce.kind === 'policy' ? inForce.policy.shipTo?.value : undefined
  if (target === undefined) return () => true
  return (files) => files.every((file) => isShipped(file, target))
}
