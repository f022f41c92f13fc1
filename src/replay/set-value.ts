import { compilePath, QueryFault } from '../json-path/index.js'
import { WiretapeError } from '../model/index.js'
import { jsonIn } from '../wire/index.js'
import type { SetValue } from './live-values.js'

/**
 * `<JSONPath>=<value>`: JSON, or otherwise plain text. `${NAME}` is an environment variable.
 *
 * @throws WiretapeError `usage`; the message never holds the value
 */
export function parseSetValue(text: string, env: Readonly<Record<string, string | undefined>>): SetValue {
  // Filters in a path may contain equal signs too: `$.params[?@.a=='b']=value`.
  const cut = cutOf(text)
  if (cut === undefined) {
    const why = text.includes('=') ? 'the path has an unclosed bracket' : 'the value is missing'
    throw new WiretapeError('usage', `--set: ${why}`, {
      hint: "use --set '$.params.arguments.token=${TOKEN}'",
    })
  }
  const value = text.slice(cut + 1).replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const known = env[name]
    if (known === undefined)
      throw new WiretapeError(
        'usage',
        `--set ${text.slice(0, cut)}: the environment variable ${name} is not set`,
      )
    return known
  })
  try {
    return {
      path: compilePath(text.slice(0, cut)),
      name: text.slice(0, cut),
      json: jsonIn(value) === undefined ? JSON.stringify(value) : value,
    }
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    throw new WiretapeError('usage', `--set ${text.slice(0, cut)}: it ${problem.message}`, {
      hint: problem.advice,
    })
  }
}

/** The first `=` outside of brackets. */
function cutOf(text: string): number | undefined {
  let depth = 0
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i)
    if (char === '[') depth += 1
    else if (char === ']') depth -= 1
    else if (char === '=' && depth === 0) return i
  }
  return undefined
}
