import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'
import { eachCredential } from './each-credential.js'

export const tokenAudience: Rule = {
  info: {
    id: 'safety/token-audience',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A token was sent to a server that it was not issued for.',
    help: 'That server can use it elsewhere. Clients send only tokens that were issued for the server; servers reject others.',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: eachCredential(() => (credential, origin, where, say) => {
    const audiences = [...credential.matchAll(/ aud=(\S+)/g)].map(([, address = '']) => address)
    // A client that was given the recorder's address requests a token for that address.
    const isMeant = audiences.some((address) => isFor(address, origin) || isLoopback(address))
    if (audiences.length > 0 && !isMeant)
      say(where, {
        message: `the token was issued for ${audiences.join(', ')}, not for ${origin}`,
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
