/** Thrown, and caught, inside the folder: why a rule cannot be applied to a message. */
export class RuleFailure extends Error {}

/** JSON-RPC 2.0, section 5.1. */
const internalError = -32603

/** @param rules by their names */
export function cannotApplyWords(rules: string, why: string): string {
  return `rule ${rules} cannot be applied: ${why}`
}

/** What whoever waits for an answer gets. @param id as it was written */
export function cannotApplyError(id: string, words: string): string {
  const error = JSON.stringify({ code: internalError, message: `wiretape: ${words}` })
  return answerText(id, 'error', error)
}

export function answerText(id: string, member: 'result' | 'error', text: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${member}":${text}}`
}
