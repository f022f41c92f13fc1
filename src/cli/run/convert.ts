import { compactSession, otlpWithPayloads, strictTrace, type Recording } from '../../formats/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { outputName, refuseExisting } from '../output.js'
import { recordingPaths } from '../recording-name.js'
import type { OpenRecording } from '../recordings.js'
import { openMerged, targetFormat, transfer } from '../transfer.js'

export interface ConvertOptions {
  readonly from?: string
  readonly to?: string
  readonly force?: boolean
  readonly filter?: string
  readonly strict?: boolean
  readonly strictV1?: boolean
  readonly compact?: boolean
  readonly otlpPayload?: boolean
}

/** @param files of the recording, then the output */
export async function runConvert(files: readonly string[], options: ConvertOptions, io: Io): Promise<number> {
  const inputs = await recordingPaths(files.slice(0, -1), io)
  const output = outputName(files.at(-1)!)
  if (inputs.length === 0) {
    throw new WiretapeError('usage', `convert needs an input and an output, and got only ${output}`, {
      hint: 'name the output file too',
    })
  }
  const found = targetFormat(options.to ?? (options.strictV1 ? 'trace-v1' : undefined), '--to', output)
  if (options.strictV1 && found.id !== 'trace-v1')
    throw new WiretapeError('usage', `--strict-v1 works only with trace-v1, not with ${found.id}`)
  if (options.compact && found.id !== 'session-json')
    throw new WiretapeError('usage', `--compact works only with session-json, not with ${found.id}`)
  const withPayloads = options.otlpPayload && otlpWithPayloads.find(({ id }) => id === found.id)
  if (options.otlpPayload && !withPayloads)
    throw new WiretapeError(
      'usage',
      `--otlp-payload works only with otlp-json and otlp-proto, not with ${found.id}`,
    )
  const format = options.strictV1 ? strictTrace : options.compact ? compactSession : withPayloads || found
  if (output !== '-') await refuseExisting(output, io.cwd, options.force)
  const { recording, close } = await openMerged(inputs, io, options.from)
  try {
    const edit = options.filter === undefined ? undefined : await excerpt(recording, options.filter)
    const { messages, losses } = await transfer(recording, { output, format }, io, edit)
    if (output !== '-')
      await io.write(`${escapeText(output)}: ${countOf(messages, 'message')}, ${format.id}\n`)
    return options.strict && losses > 0 ? exitCode.found : exitCode.done
  } finally {
    await close()
  }
}

/** Loads the filter language only if needed. */
async function excerpt(
  recording: Pick<OpenRecording, 'records'>,
  filter: string,
): Promise<(recording: Recording) => Recording> {
  const { filteredRecording } = await import('../filtered.js')
  return filteredRecording(recording, filter)
}
