import { WiretapeError } from '../model/index.js'

/**
 * The URL of an HTTP server.
 *
 * @param option as the user wrote it
 * @throws WiretapeError `usage`
 */
export function parseHttpUrl(text: string, option: string): URL {
  // `localhost:3001` parses as a URL of the scheme `localhost`.
  const [host] = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::\d+)?(?=\/|$)/i.exec(text) ?? []
  if (host !== undefined) {
    throw new WiretapeError('usage', `${option} ${host} has no scheme`, {
      hint: `did you mean http://${host}${text.length > host.length ? '/…' : ''}?`,
    })
  }
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new WiretapeError('usage', `${option} is not a URL`, {
      hint: 'such as https://example.com/mcp',
      cause,
    })
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  throw new WiretapeError('usage', `${option} must begin with http:// or https://, not ${url.protocol}//`)
}
