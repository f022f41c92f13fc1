import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import {
  detectFormat,
  importInto,
  importTranscript,
  transcriptFormats,
  type Episode,
  type TranscriptFormat,
} from '../../formats/index.js'
import { WiretapeError, type Diagnostic } from '../../model/index.js'
import { replaceFile } from '../../tape/index.js'
import { createComplaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { inFile } from '../named-file.js'
import { openInput, type OpenInput } from '../open-input.js'
import { outputName } from '../output.js'
import { refuseOwnInput } from '../own-input.js'
import { recordingPath } from '../recording-name.js'
import { withProgress } from '../progress.js'
import { printBytes } from '../transfer.js'

export interface ImportOptions {
  readonly format?: string
  readonly outTrace?: string
  readonly episodeId?: string
  readonly testId?: string
  readonly prompt?: string
}

/** Names that are taken on the command line only. */
const aliases: Readonly<Record<string, string>> = { 'sse-legacy': 'http-sse' }

export async function runImport(named: string, options: ImportOptions, io: Io): Promise<number> {
  const file = await recordingPath(named, io)
  if (file === '' || options.outTrace === '') {
    throw new WiretapeError('usage', `${file === '' ? 'the input' : '--out-trace'} has no name`, {
      hint: '- is stdin and stdout',
    })
  }
  const wanted = options.format === undefined ? undefined : formatOf(options.format)
  const output = outputName(options.outTrace ?? defaultOutput(file))
  refuseOwnInput(output, [file], '--out-trace', io)
  const input = await openInput(file, io.cwd)
  let complaints = createComplaints()
  try {
    const format = wanted ?? detected(input, file)
    const report = (problem: Diagnostic): void => complaints.input({ ...problem, file: input.name })
    const begin = (): void => {
      complaints = createComplaints()
      if (input.fault) report(input.fault)
    }
    begin()
    const importOptions = {
      input: { bytes: () => withProgress(input.name, input.bytes(), input.sizeBytes) },
      episode: episodeOf(file, options),
      report,
    }
    if (output === '-') await printBytes((await importTranscript(format, importOptions)).trace, io)
    else {
      await refuseMissingFolder(output, io.cwd)
      const keep = async (trace: AsyncIterable<Uint8Array>): Promise<void> => {
        await replaceFile(resolve(io.cwd, output), trace)
      }
      const imported = await importInto(keep, format, { ...importOptions, again: begin })
      await io.write(`Importing MCP transcript from: ${JSON.stringify(file)}\n`)
      await io.write(`Parsed ${imported.messages()} MCP events.\n`)
      await io.write(`Generated ${imported.events()} Assay V2 trace events.\n`)
      await io.write(`Trace written to: ${JSON.stringify(output)}\n`)
    }
    await complaints.tell(io)
    return exitCode.done
  } catch (error) {
    throw inFile(error, input.name, input.path)
  } finally {
    await input.close()
  }
}

/** Importers make no folders: a name that was mistyped is to be seen. */
async function refuseMissingFolder(output: string, cwd: string): Promise<void> {
  const folder = dirname(output)
  if (await stat(resolve(cwd, folder)).catch(() => undefined)) return
  throw new WiretapeError('unwritable', `cannot write ${output}: there is no folder ${folder}`, {
    hint: 'make it first',
  })
}

function formatOf(said: string): TranscriptFormat {
  const id = Object.hasOwn(aliases, said) ? aliases[said] : said
  const format = transcriptFormats.find((known) => known === id)
  if (format) return format
  throw new WiretapeError('usage', `--format ${said}: unknown format`, {
    hint: `it is one of ${transcriptFormats.join(', ')}`,
  })
}

function detected(input: OpenInput, file: string): TranscriptFormat {
  // A file of no lines is an empty one of messages, if its name says that it has lines.
  const isLines = /\.(?:jsonl|ndjson)(?:\.gz|\.zst)?$/i.test(file)
  const isEmpty = input.head.length === 0
  const id = isEmpty && isLines ? 'jsonrpc' : detectFormat(input.head)?.id
  const format = transcriptFormats.find((known) => known === id)
  if (format) return format
  const known = transcriptFormats.join('|')
  const what = isEmpty
    ? 'is empty'
    : id === undefined
      ? 'is not a transcript: its start fits no known format'
      : `is no transcript, but a recording (${id})`
  const hint =
    id === undefined
      ? `--format ${known} says what it is`
      : 'wiretape convert --to assay-trace makes a trace of it'
  throw new WiretapeError('not-a-recording', `${input.path} ${what}`, { hint })
}

function episodeOf(file: string, options: ImportOptions): Episode {
  return { id: options.episodeId ?? stemOf(file), prompt: options.prompt, testId: options.testId }
}

/** The name without its last extension, as importers call it; that it is packed changes nothing. */
function stemOf(file: string): string {
  if (file === '-') return 'stdin'
  const name = basename(file).replace(/\.(?:gz|zst)$/i, '')
  return name.slice(0, name.length - extname(name).length)
}

function defaultOutput(file: string): string {
  return file === '-' ? '-' : join(dirname(file), `${stemOf(file)}.trace.jsonl`)
}
