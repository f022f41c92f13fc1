/** Marks a segment as indexed; its content is the name of the batch. */
export function indexedKey(hash: string): string {
  return `index/segments/${hash.slice(0, 2)}/${hash}`
}

export const commitsPrefix = 'index/batches/'

/** Why a segment is not in the index. */
export function deadKey(hash: string): string {
  return `dead/${hash}.json`
}

/** The bytes of such a segment, as received. */
export function deadBytesKey(hash: string): string {
  return `dead/${hash}.segment`
}

/** Failed attempts to collect a segment. */
export function attemptsKey(hash: string): string {
  return `attempts/${hash}.json`
}
