import { validateHeaderName, validateHeaderValue } from 'node:http'
import { recordBridge } from '../../capture/index.js'
import { WiretapeError } from '../../model/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import type { RecordOptions } from '../record-options.js'
import { captureOptions, conclude } from './record.js'
import { parseUrl } from './record-http.js'

/** Records a remote server for a client that speaks stdio only: the client has started us in its place. */
export async function runRecordBridge(url: string, options: RecordOptions, io: Io): Promise<number> {
  const upstream = parseUrl(url)
  const headers = (options.header ?? []).map((text) => parseHeader(text, process.env))
  try {
    const result = await recordBridge({
      ...captureOptions(options, options.label ?? upstream.hostname, io),
      upstream,
      headers,
      insecure: options.insecure === true,
      onNotice: (line) => void io.complain(line),
    })
    await conclude(result, options, io)
    return result.exitCode
  } catch (error) {
    if (!(error instanceof WiretapeError) || error.code !== 'unwritable') throw error
    await io.complain(error.message, error.hint)
    return exitCode.found
  }
}

/** `Name: value`, with `${VARIABLE}` of the environment put in. The value may be a secret, and is never told. */
export function parseHeader(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly [name: string, value: string] {
  const [, name = '', written = ''] = /^([^:]*):\s*([^]*)$/.exec(text) ?? []
  const value = written.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
    const given = env[variable]
    if (given !== undefined) return given
    const hint = `set it in the environment of wiretape, or in "env" of the client's configuration`
    throw new WiretapeError('usage', `--header ${name}: there is no variable ${variable}`, { hint })
  })
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (cause) {
    const hint = "such as --header 'Authorization: Bearer ${TOKEN}'"
    throw new WiretapeError('usage', `--header ${name || '(nothing)'} is no header`, { hint, cause })
  }
  return [name, value.trim()]
}
