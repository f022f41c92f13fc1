import { recordBridge } from '../../capture/index.js'
import { sayClientExpected } from '../expected-client.js'
import { parseHeader } from '../header-option.js'
import type { Io } from '../io.js'
import type { RecordOptions } from '../record-flag.js'
import { captureOptions, conclude, howToStart, unlessUnwritable } from './record.js'
import { parseHttpUrl } from '../http-url-option.js'

/** Records a remote server for a stdio-only client, which has started us in the server's place. */
export async function runRecordBridge(url: string, options: RecordOptions, io: Io): Promise<number> {
  const upstream = parseHttpUrl(url, '--url')
  const given = (options.header ?? []).map((text) => parseHeader(text, process.env))
  const capture = captureOptions(options, options.label ?? upstream.hostname, io)
  await sayClientExpected(io, options.quiet, howToStart)
  return unlessUnwritable(io, async () => {
    const result = await recordBridge({
      ...capture,
      redaction: { ...capture.redaction, secrets: given.flatMap(({ secrets }) => secrets) },
      upstream,
      headers: given.map(({ name, value }) => [name, value] as const),
      insecure: options.insecure === true,
      onNotice: (line) => void io.complain(line),
    })
    await conclude(result, options, io)
    return result.exitCode
  })
}
