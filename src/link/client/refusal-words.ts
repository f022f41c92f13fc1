const longestReason = 120

/** The reason of a refusal. @param text body of the response */
export function refusalWords(status: number, location: string | undefined, text: string): string {
  // The beginning of an HTML page is not helpful.
  const isPage = /^\s*<(?:!doctype|html)\b/i.test(text)
  const line = isPage ? '' : text.trim().split('\n', 1)[0]!.slice(0, longestReason)
  if (status === 401) return `HTTP 401: the server requires authorization`
  if (status >= 300 && status < 400) return `HTTP ${status}: redirect to ${location ?? 'nowhere'}`
  return `HTTP ${status}${line === '' ? '' : `: ${line}`}`
}
