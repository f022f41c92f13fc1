import type { HttpHeaders } from '../../../model/index.js'
import type { Rule, Say, Scope } from '../../finding.js'
import { valueOfHeader, type Message } from '../../message.js'
import { sources } from '../sources.js'

const mostTags = 50_000

type Where = Message | number

/** A rule that looks at the headers of the requests to one server, by its origin. */
function eachCredential(
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

export const tokenPassthrough: Rule = {
  info: {
    id: 'safety/token-passthrough',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'One token was sent to two servers.',
    help: 'Each of them can act as the client at the other one. A client uses a token of its own for each server.',
    source: sources.security,
    owasp: 'MCP01',
  },
  begin: eachCredential(({ run }) => {
    const key = 'origins of credentials'
    const origins = (run.get(key) ?? new Map()) as Map<string, string>
    run.set(key, origins)
    return (credential, origin, where, say) => {
      const tag = / tag=([\da-f]{16})/.exec(credential)?.[1]
      if (tag === undefined) return
      const other = origins.get(tag)
      if (other === undefined) {
        if (origins.size < mostTags) origins.set(tag, origin)
      } else if (other !== origin) say(where, { message: `its token was sent to ${other} too`, what: other })
    }
  }),
}

export const tokenAudience: Rule = {
  info: {
    id: 'safety/token-audience',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A token that is for another server was sent.',
    help: 'The server that gets it can use it there. Clients send only tokens that were issued for the server; servers refuse others.',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: eachCredential(() => (credential, origin, where, say) => {
    const audiences = [...credential.matchAll(/ aud=(\S+)/g)].map(([, address = '']) => address)
    // A client that was given the address of the recorder asks for a token for that.
    const isMeant = audiences.some((address) => isFor(address, origin) || isLoopback(address))
    if (audiences.length > 0 && !isMeant)
      say(where, {
        message: `its token is for ${audiences.join(', ')}, not for ${origin}`,
        what: audiences.join(),
      })
  }),
}

function isFor(address: string, origin: string): boolean {
  return URL.canParse(address) && new URL(address).origin === origin
}

function isLoopback(address: string): boolean {
  return /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/.test(address)
}
