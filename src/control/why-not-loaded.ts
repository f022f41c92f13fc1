/** Why a lazily loaded part of the program failed to load; for people. */
export function whyNotLoaded(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as { readonly code?: unknown; readonly message?: string }
  if (code === 'ERR_MODULE_NOT_FOUND')
    return 'wiretape was updated or removed while this capture ran: recording continues; restart the capture to use this'
  return `a part of wiretape could not be loaded: ${message || String(error)}`
}
