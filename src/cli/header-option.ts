import { validateHeaderName, validateHeaderValue } from 'node:http'
import { WiretapeError } from '../model/index.js'

/** Headers for the transfer of a request, or negotiated between this client and this server. */
const ownHeaders =
  /^(host|content-(length|type|encoding)|transfer-encoding|connection|proxy-connection|keep-alive|te|trailer|upgrade|expect|accept|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$/i

/** A header from the user. */
export interface GivenHeader {
  readonly name: string
  readonly value: string
  /** Values from the environment. */
  readonly secrets: readonly string[]
}

/** Parses `Name: value` and fills in `${VARIABLE}`. The value may be a secret; no message shows it. */
export function parseHeader(text: string, env: Readonly<Record<string, string | undefined>>): GivenHeader {
  const hint = "such as --header 'Authorization: Bearer ${TOKEN}'"
  const [, name = '', written = ''] = /^([^:]*):\s*([^]*)$/.exec(text) ?? []
  try {
    validateHeaderName(name)
  } catch (cause) {
    throw new WiretapeError('usage', `--header ${name || '(nothing)'} is not a header`, { hint, cause })
  }
  if (ownHeaders.test(name))
    throw new WiretapeError('usage', `--header ${name}: wiretape sets this header itself`, {
      hint: 'leave it out',
    })
  const secrets: string[] = []
  const value = written
    .replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
      // Token files end with a line break.
      const given = env[variable]?.trim()
      if (given === undefined) {
        throw new WiretapeError('usage', `--header ${name}: unknown variable ${variable}`, {
          hint: `set it in the environment of wiretape, or in "env" of the client's configuration`,
        })
      }
      secrets.push(given)
      return given
    })
    .trim()
  if (/[\r\n]/.test(value))
    throw new WiretapeError('usage', `--header ${name}: its value has a line break`, {
      hint: 'a header must be one line',
    })
  try {
    validateHeaderValue(name, value)
  } catch (cause) {
    const why = 'its value has a character that is not allowed in headers'
    throw new WiretapeError('usage', `--header ${name}: ${why}`, { hint, cause })
  }
  return { name, value, secrets }
}
