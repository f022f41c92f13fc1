import { clean } from './clean.js'

/** The error and its hint, as sentences. */
export function failureText({ message, hint }: { readonly message: string; readonly hint?: string }): string {
  const sentence = clean(message).replace(/[.!?]?$/, (end) => end || '.')
  return hint === undefined ? sentence : `${sentence} ${clean(hint)}`
}
