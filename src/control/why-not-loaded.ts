/** The codes of `require` and of `import`. */
export function isNotFound(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
}

/** Why a lazily loaded part of the program failed to load; for people. */
export function whyNotLoaded(error: unknown): string {
  const { message = '' } = (error ?? {}) as { readonly message?: string }
  if (isNotFound(error))
    return 'wiretape was updated or removed while this capture ran: recording continues; restart the capture to use this'
  return `a part of wiretape could not be loaded: ${message || String(error)}`
}
