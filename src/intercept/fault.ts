/** Why a command to the gate is not carried out. The codes are those of the control protocol. */
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

/** An answer under that id could be anybody's. */
export const idInUseWords = 'a request with this id still waits for its response'

export function idInUse(): GateFault {
  return new GateFault('invalid', idInUseWords, 'use another id')
}
