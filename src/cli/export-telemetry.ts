import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CaptureFiles, CaptureOptions } from '../capture/index.js'
import { WiretapeError } from '../model/index.js'
import type { Io } from './io.js'
import type { RecordOptions } from './record-flag.js'
import { readVersion } from './version.js'

/**
 * What exports a recording, where that is asked for; nothing of it is loaded otherwise.
 *
 * @throws WiretapeError `usage`
 */
export function telemetryOf(options: RecordOptions, io: Io): Pick<CaptureOptions, 'telemetry'> {
  const { otlp, otlpProtocol: protocol, otlpPayload: payloads } = options
  if (otlp === undefined) {
    const flag = protocol === undefined ? (payloads ? '--otlp-payload' : undefined) : '--otlp-protocol'
    if (flag === undefined) return {}
    throw new WiretapeError('usage', `${flag} goes with --otlp`, { hint: '--otlp http://localhost:4318' })
  }
  return {
    async telemetry() {
      const { createTelemetry, readTelemetrySettings } = await import('../telemetry/index.js')
      const settings = readTelemetrySettings(
        { otlp, ...(protocol && { protocol }), ...(payloads && { payloads }) },
        {
          env: process.env,
          readFile: (path) => readFileSync(resolve(io.cwd, path), 'utf8'),
          warn: (line) => void io.complain(line),
        },
      )
      return settings && createTelemetry(settings, readVersion())
    },
  }
}

/** Says what was not exported. */
export async function concludeTelemetry(
  outcome: NonNullable<CaptureFiles['telemetry']>,
  io: Io,
): Promise<void> {
  if ('trouble' in outcome) return io.complain(`telemetry was not exported: ${outcome.trouble}`)
  const { spansSent, spansLeftOut, unread, why, metricsTrouble } = outcome
  const parts = [
    ...(spansLeftOut > 0 ? [`${spansLeftOut} of ${spansSent + spansLeftOut} spans were not exported`] : []),
    ...(unread > 0 ? [`${unread} records were passed over`] : []),
    ...(metricsTrouble === undefined ? [] : ['the last metrics were not exported']),
  ]
  const reason = why ?? metricsTrouble
  if (parts.length === 0) return
  return io.complain(
    `telemetry: ${parts.join(', ')}${reason === undefined ? '' : `: ${reason}`}`,
    'the recording is complete',
  )
}
