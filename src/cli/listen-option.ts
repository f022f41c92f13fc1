import { WiretapeError } from '../model/index.js'

/**
 * Where to listen, as `--listen` says: `127.0.0.1:8080`, `[::1]:8080` or only a port.
 *
 * @throws WiretapeError `usage`
 */
export function parseListen(text: string | undefined): { host: string; port: number } {
  if (text === undefined) return { host: '127.0.0.1', port: 0 }
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[^:]+):)?(\d{1,5})$/.exec(text)
  const port = Number(match?.[2])
  if (!match || port > 65_535) {
    throw new WiretapeError('usage', `--listen ${text} is no address`, {
      hint: 'it has the form 127.0.0.1:8080',
    })
  }
  return { host: (match[1] ?? '127.0.0.1').replace(/^\[|\]$/g, ''), port }
}
