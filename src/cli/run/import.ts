import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  detectFormat,
  importInto,
  importTranscript,
  transcriptFormats,
  type Episode,
  type ImportedTranscript,
  type Profile,
  type TranscriptFormat,
} from '../../formats/index.js'
import { WiretapeError, type Diagnostic } from '../../model/index.js'
import { replaceFile } from '../../tape/index.js'
import { createComplaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { isWorthThread } from '../line-chunks.js'
import { inFile } from '../named-file.js'
import { openInput, type OpenInput } from '../open-input.js'
import { withProgress } from '../progress.js'
import { threadBatches } from '../transcript-thread.js'
import { printBytes } from '../transfer.js'
import { createScaffold, scaffoldName } from './eval-scaffold.js'
import {
  planImports,
  profileOf,
  stemOf,
  untimedMs,
  type ImportOptions,
  type PlannedImport,
} from './import-plan.js'

export type { ImportOptions } from './import-plan.js'

/** Names accepted only on the command line. */
const aliases: Readonly<Record<string, string>> = {
  'sse-legacy': 'http-sse',
  'mcp-inspector': 'inspector',
  'mcp-inspector@v1': 'inspector',
}

interface Settings {
  readonly format: TranscriptFormat | undefined
  readonly profile: Profile
  readonly fallbackTime: number
  readonly options: ImportOptions
}

/** Imports transcripts one by one: a refused one does not stop the others. */
export async function runImport(named: readonly string[], options: ImportOptions, io: Io): Promise<number> {
  const profile = profileOf(options.profile)
  const settings: Settings = {
    format: options.format === undefined ? undefined : formatOf(options.format),
    profile,
    fallbackTime: untimedMs(options.untimed, profile),
    options,
  }
  const plans = await planImports(named, options, io)
  const tools = new Set<string>()
  let refusals = 0
  for (const plan of plans) {
    try {
      const imported = await importOne(plan, settings, io)
      for (const tool of imported.tools()) tools.add(tool)
    } catch (error) {
      if (!(error instanceof WiretapeError)) throw error
      refusals += 1
      const causes = profile === 'strict' ? causesOf(error) : undefined
      if (causes) await io.complain(`${plan.file}: failed to parse MCP transcript`, undefined, causes)
      else await io.complain(error.message, error.hint)
    }
  }
  if (options.init && refusals < plans.length) {
    const isNew = await createScaffold(tools, io.cwd)
    const line = isNew ? `Created ${scaffoldName}` : `${scaffoldName} already exists, skipping.`
    if (plans[0]!.output === '-') await io.complain(line)
    else await io.write(`${line}\n`)
  }
  return refusals === 0 ? exitCode.done : exitCode.usage
}

/** Causes of a refusal that importers print, outermost first. */
function causesOf(error: WiretapeError): string[] | undefined {
  let refusal: Error = error
  while (refusal.cause instanceof WiretapeError) refusal = refusal.cause
  const causes: string[] = []
  for (let at = refusal.cause; at instanceof Error; at = at.cause) causes.push(at.message)
  return refusal.message.startsWith('failed to parse MCP transcript') && causes.length > 0
    ? causes
    : undefined
}

async function importOne(
  { file, output }: PlannedImport,
  { format: wanted, profile, fallbackTime, options }: Settings,
  io: Io,
): Promise<ImportedTranscript> {
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
      profile,
      fallbackTime,
      report,
    }
    let imported: ImportedTranscript
    if (output === '-') {
      imported = await importTranscript(format, importOptions)
      await printBytes(imported.trace, io)
    } else {
      await refuseMissingFolder(output, io.cwd)
      const keep = async (trace: AsyncIterable<Uint8Array>): Promise<void> => {
        await replaceFile(resolve(io.cwd, output), trace)
      }
      const batches = (): ReturnType<typeof threadBatches> => threadBatches(input.path, profile)
      const isThreaded = format === 'jsonrpc' && isWorthThread(input.sizeBytes)
      imported = await importInto(keep, format, {
        ...importOptions,
        ...(isThreaded && { batches: () => withProgress(input.name, batches(), input.sizeBytes) }),
        again: begin,
      })
      await io.write(`Importing MCP transcript from: ${JSON.stringify(file)}\n`)
      await io.write(`Parsed ${imported.messages()} MCP events.\n`)
      await io.write(`Generated ${imported.events()} Assay V2 trace events.\n`)
      await io.write(`Trace written to: ${JSON.stringify(output)}\n`)
    }
    await complaints.tell(io)
    return imported
  } catch (error) {
    throw inFile(error, input.name, input.path)
  } finally {
    await input.close()
  }
}

/** Importers create no folders, so that mistyped names are noticed. */
async function refuseMissingFolder(output: string, cwd: string): Promise<void> {
  const folder = dirname(output)
  if (await stat(resolve(cwd, folder)).catch(() => undefined)) return
  throw new WiretapeError('unwritable', `cannot write ${output}: no folder ${folder}`, {
    hint: 'create it first',
  })
}

function formatOf(said: string): TranscriptFormat {
  const id = Object.hasOwn(aliases, said) ? aliases[said] : said
  const format = transcriptFormats.find((known) => known === id)
  if (format) return format
  throw new WiretapeError('usage', `--format ${said}: unknown format`, {
    hint: `use one of ${transcriptFormats.join(', ')}`,
  })
}

function detected(input: OpenInput, file: string): TranscriptFormat {
  // An empty file counts as an empty list of messages if its name means a lines format.
  const isLines = /\.(?:jsonl|ndjson)(?:\.gz|\.zst)?$/i.test(file)
  const isEmpty = input.head.length === 0
  const id = isEmpty && isLines ? 'jsonrpc' : detectFormat(input.head)?.id
  const format = transcriptFormats.find((known) => known === id)
  if (format) return format
  const known = transcriptFormats.join('|')
  const what = isEmpty
    ? 'is empty'
    : id === undefined
      ? 'is not a transcript: its start matches no known format'
      : `is a recording, not a transcript (${id})`
  const hint =
    id === undefined
      ? `set its format with --format ${known}`
      : 'wiretape convert --to assay-trace converts it to a trace'
  throw new WiretapeError('not-a-recording', `${input.path} ${what}`, { hint })
}

function episodeOf(file: string, options: ImportOptions): Episode {
  return { id: options.episodeId ?? stemOf(file), prompt: options.prompt, testId: options.testId }
}
