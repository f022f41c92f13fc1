import { redactedMetadata } from '../../capture/index.js'
import { createRunRedactor } from '../../proxy/index.js'
import { adopt, compactSession, type Recording } from '../../formats/index.js'
import { WiretapeError, type JsonMembers, type MetaRecord, type TapeRecord } from '../../model/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { metadataOf, notesName, type MetadataOptions } from '../metadata.js'
import { recordingPath } from '../recording-name.js'
import { openOne, targetFormat, transfer } from '../transfer.js'

export interface ProxyExportOptions extends MetadataOptions {
  readonly sessionFile: string
  readonly output: string
  readonly outputFormat?: string
  readonly compact?: boolean
}

export async function runProxyExport(options: ProxyExportOptions, io: Io): Promise<number> {
  const { sessionFile, output, outputFormat = 'json', compact } = options
  const found = targetFormat(
    outputFormat === 'json' ? 'session-json' : outputFormat,
    '--output-format',
    output,
  )
  if (compact && found.id !== 'session-json')
    throw new WiretapeError('usage', `--compact works only with session-json, not with ${found.id}`)
  const format = compact ? compactSession : found
  const { recording, close } = await openOne([await recordingPath(sessionFile, io)], io)
  try {
    // Added metadata is redacted with the rules of a recording.
    const redactor = await createRunRedactor({ defaults: true })
    const added = redactedMetadata(metadataOf(options), redactor)
    const edit = (records: Recording): Recording =>
      added.length === 0 ? records : withMetadata(records, added)
    const { messages } = await transfer(recording, { output, format, backup: true }, io, edit)
    if (output !== '-') await io.write(`Exported ${countOf(messages, 'message')} to ${escapeText(output)}\n`)
    return exitCode.done
  } finally {
    await close()
  }
}

/** Adds metadata. A new value replaces one with the same name, except for notes: they are evidence and stay. */
function withMetadata(recording: Recording, added: JsonMembers): Recording {
  const own = adopt(recording)
  return {
    async *records(): AsyncGenerator<TapeRecord, void, undefined> {
      for await (const record of own.records())
        yield record.type === 'meta' ? enriched(record, added) : record
    },
  }
}

function enriched(meta: MetaRecord, added: JsonMembers): MetaRecord {
  if (!meta.wiretape) return meta
  const metadata = new Map(meta.wiretape.metadata)
  for (const [name, json] of added) {
    const before = metadata.get(name)
    metadata.set(name, name === notesName && before !== undefined ? joinedNotes(before, json) : json)
  }
  return { ...meta, wiretape: { ...meta.wiretape, metadata: [...metadata] } }
}

/** Notes are one string. Files of other tools may have an array, or a value that becomes an array's first element. */
function joinedNotes(before: string, added: string): string {
  const [old, text] = [JSON.parse(before) as unknown, JSON.parse(added) as string]
  if (typeof old === 'string') return JSON.stringify(`${old}\n${text}`)
  if (old === null) return added
  return before.startsWith('[') && before !== '[]'
    ? `${before.slice(0, -1)},${added}]`
    : `[${before},${added}]`
}
