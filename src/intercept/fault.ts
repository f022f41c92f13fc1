/** Why a command to the gate failed. The codes are those of the control protocol. */
export class GateFault extends Error {
  override readonly name = 'GateFault'
  readonly code: 'invalid' | 'not-held' | 'redacted' | 'no-peer' | 'file' | 'no-answer' | 'busy'
  readonly hint: string | undefined

  constructor(code: GateFault['code'], message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** A response with this id would be ambiguous. */
export const idInUseWords = 'a request with this id still waits for its response'

export function idInUse(): GateFault {
  return new GateFault('invalid', idInUseWords, 'use another id')
}
