import type { HttpHeaders } from '../../../model/index.js'
import type { Rule, Say, Scope } from '../../finding.js'
import { valueOfHeader, type Message } from '../../message.js'

export type Where = Message | number

/** A rule that checks the request headers to one server, by its origin. */
export function eachCredential(
  faultOf: (scope: Scope) => (credential: string, origin: string, where: Where, say: Say) => void,
): Rule['begin'] {
  return (scope, say) => {
    const look = faultOf(scope)
    const take = (headers: HttpHeaders | undefined, where: Where): void => {
      const credential = valueOfHeader(headers, 'authorization')
      const url = scope.fold.sessions.at(-1)?.url ?? ''
      if (credential !== undefined && URL.canParse(url)) look(credential, new URL(url).origin, where, say)
    }
    return {
      message(message) {
        if (!message.fromServer) take(message.record.http?.headers, message)
      },
      record(record, row) {
        if (record.type === 'http' && row >= 0) take(record.requestHeaders, row)
      },
    }
  }
}
