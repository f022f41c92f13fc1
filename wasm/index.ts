/**
 * Work on messages as bytes, in AssemblyScript: the engine compiles it once, without first running it slowly, and it reads
 * sixteen bytes at once. JavaScript gives the same results. `src/wire/message-memory.ts` holds the bytes.
 */
export { doubleQuotes, indent } from './forms'
export { skip, useUtf8 } from './json'
export { found, read } from './read'
export { contains, counts, distances, find, first, groups, mostLiterals, others } from './search'
export { key, write } from './write'

/** Address of the unused memory. */
export const free: usize = (__heap_base + 15) & ~15
