import { marker } from './marker.js'
import { redactPathKeys, signatureOf, type HttpRules } from './http.js'
import { secretTermOf } from './secret-names.js'

/** A parameter of the query or of the fragment, which may also carry access tokens. */
const parameter = /([?&#;])([^=&#;?]*)=([^&#;]+)/g
const userinfo = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]+)(?=@)/

/** A URL without its user's password and without the values of parameters with secret names. */
export function redactUrl(url: string, rules: HttpRules): string {
  const counted = (rule: string): void => rules.counted(rule)
  const [, origin = '', path = '', rest = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(url) ?? []
  const isOpaque = origin === '' || path === ''
  return (isOpaque ? url : origin + redactPathKeys(path, rules) + rest)
    .replace(userinfo, (_, before: string) => {
      counted('url-password')
      return before + marker
    })
    .replace(parameter, (whole, joint: string, name: string, value: string) => {
      const term = secretTermOf(decodeName(name)) ?? signatureOf(decodeName(name), value)
      if (term === undefined) return whole
      counted(`key:${term}`)
      return `${joint}${name}=${marker}`
    })
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
