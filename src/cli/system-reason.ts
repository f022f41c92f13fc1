/**
 * Why a call failed, in the words of the system: `no space left on device`. `node:util` is not imported: for an
 * import Node makes all that it exports, a coloured diff among it, and for that looks at `process.stderr`, which makes
 * the client's own stderr one that does not block (Node 22 and later).
 */
export function systemReason(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  const { getSystemErrorMap } = process.getBuiltinModule('node:util')
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message
}
