import { resolve } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { checkReplaceable, replaceFile } from '../tape/index.js'
import type { Io } from './io.js'
import { refuseOwnInput, refuseTwice } from './own-input.js'

/** Kinds of `--report KIND=FILE`, yielding pieces of text. */
export type ReportKinds<R> = Readonly<Record<string, (report: R) => Iterable<string>>>

/** A requested report. */
export interface WantedReport<R> {
  readonly file: string
  readonly kind: string
  readonly write: (report: R) => Iterable<string>
}

/**
 * `junit=FILE`.
 *
 * @param kinds available reports by name
 * @param read input files, which no report may replace
 * @param output other output, with its option
 * @throws WiretapeError before any comparison: unknown kind, or the file cannot be written
 */
export async function wantedReports<R>(
  given: readonly string[] | undefined,
  kinds: ReportKinds<R>,
  read: readonly string[],
  io: Io,
  output?: { readonly option: string; readonly file: string },
): Promise<WantedReport<R>[]> {
  const wanted: WantedReport<R>[] = []
  const written = output ? [output] : []
  for (const text of given ?? []) {
    const [kind = '', file = ''] = splitOnce(text, '=')
    const write = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (!write) {
      throw new WiretapeError('usage', `unknown report kind ${JSON.stringify(kind)}`, {
        hint: `use --report KIND=FILE with one of ${Object.keys(kinds).join(', ')}`,
      })
    }
    if (file === '') {
      throw new WiretapeError('usage', `--report ${kind} needs a file`, { hint: `use ${kind}=FILE` })
    }
    refuseOwnInput(file, read, `--report ${kind}:`, io)
    if (file !== '-') await checkReplaceable(resolve(io.cwd, file))
    written.push({ option: `--report ${kind}=${file}`, file })
    wanted.push({ file, kind, write })
  }
  refuseTwice(written, io)
  return wanted
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}

export async function writeReports<R>(wanted: readonly WantedReport<R>[], report: R, io: Io): Promise<void> {
  for (const { file, kind, write } of wanted) {
    if (file === '-') await printPieces(write(report), io, kind === 'github' ? 'commands' : 'data')
    else await replaceFile(resolve(io.cwd, file), bytesOf(write(report)))
  }
}

export async function printPieces(
  pieces: Iterable<string>,
  io: Io,
  kind: 'data' | 'commands' = 'data',
): Promise<void> {
  for (const piece of pieces) if (!(await io.write(piece, kind))) return
}

export async function* bytesOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  let batch = ''
  for (const piece of pieces) {
    batch += piece
    if (batch.length < batchLength) continue
    yield Buffer.from(batch)
    batch = ''
  }
  yield Buffer.from(batch)
}

/** Characters buffered before a write. */
const batchLength = 1 << 18
