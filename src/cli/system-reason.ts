/**
 * The system's message for a failed call: `no space left on device`. Does not import `node:util`: the import creates
 * all of its exports, including a coloured diff, which accesses `process.stderr` and thereby makes the client's own
 * stderr non-blocking (Node 22 and later).
 */
export function systemReason(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  const { getSystemErrorMap } = process.getBuiltinModule('node:util')
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message
}
