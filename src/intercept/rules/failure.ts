/** Why a rule cannot be applied to a message. Thrown and caught within the folder. */
export class RuleFailure extends Error {}

/** JSON-RPC 2.0, section 5.1. */
const internalError = -32603

/** @param rules their names */
export function cannotApplyWords(rules: string, why: string): string {
  return `rule ${rules} cannot be applied: ${why}`
}

/** Error response for a waiting requester. @param id exact text */
export function cannotApplyError(id: string, words: string): string {
  const error = JSON.stringify({ code: internalError, message: `wiretape: ${words}` })
  return answerText(id, 'error', error)
}

export function answerText(id: string, member: 'result' | 'error', text: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${member}":${text}}`
}
