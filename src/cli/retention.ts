import { policyInForce } from '../capture/index.js'
import { deleteShipped } from '../tape/index.js'
import { recordingsIn } from './data-folder.js'
import { deleteRecording } from './delete-recording.js'
import { rowsIn } from './folder-rows.js'
import { mayDeleteNow } from './may-delete.js'
import { beyond } from './run/prune.js'

/** Deletes recordings beyond the policy's retention. Returns their number. */
export async function enforceRetention(dataFolder: string): Promise<number> {
  const inForce = await policyInForce()
  if (inForce.kind !== 'policy') return 0
  const { retentionAgeMs, retentionBytes, quotaBytes, shipTo } = inForce.policy
  let deleted = 0
  if (retentionAgeMs || retentionBytes) {
    const mayDelete = await mayDeleteNow()
    const rows = await rowsIn(recordingsIn(dataFolder), { dataFolder })
    const [ageMs = Infinity, sizeBytes = Infinity] = [retentionAgeMs?.value, retentionBytes?.value]
    for (const { files } of beyond(rows, ageMs, sizeBytes, Date.now())) {
      if (mayDelete(files) && (await deleteRecording(files, dataFolder)) === undefined) deleted += 1
    }
  }
  if (quotaBytes && shipTo) {
    const folder = recordingsIn(dataFolder)
    const rows = await rowsIn(folder, { dataFolder })
    const sizeBytes = rows.reduce((sum, row) => sum + row.sizeBytes, 0)
    const quota = { folder, bytes: quotaBytes.value, target: shipTo.value }
    deleteShipped(quota, sizeBytes - quota.bytes)
  }
  return deleted
}
