import { WiretapeError } from '../model/index.js'

/**
 * An address: `127.0.0.1:8080`, `[::1]:8080` or only a port.
 *
 * @param option as the user wrote it
 * @throws WiretapeError `usage`
 */
export function parseListen(text: string | undefined, option = '--listen'): { host: string; port: number } {
  if (text === undefined) return { host: '127.0.0.1', port: 0 }
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[^:]+):)?(\d{1,9})$/.exec(text)
  const port = Number(match?.[2])
  const isPort = option === '--listen-port'
  if (!match) {
    throw new WiretapeError('usage', `${option} ${text} is not ${isPort ? 'a port' : 'an address'}`, {
      hint: isPort ? 'such as 8080' : 'use the form 127.0.0.1:8080',
    })
  }
  if (port > 65_535) throw new WiretapeError('usage', `${option} ${text}: a port must be 0 to 65535`)
  return { host: (match[1] ?? '127.0.0.1').replace(/^\[|\]$/g, ''), port }
}
