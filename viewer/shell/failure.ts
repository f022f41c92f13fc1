import { clean } from './clean.js'

/** What went wrong and what to do, as sentences. */
export function failureText({ message, hint }: { readonly message: string; readonly hint?: string }): string {
  const sentence = clean(message).replace(/[.!?]?$/, (end) => end || '.')
  return hint === undefined ? sentence : `${sentence} ${clean(hint)}`
}
