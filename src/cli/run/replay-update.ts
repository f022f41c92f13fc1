import { resolve } from 'node:path'
import { isNote, tellsOffers, titleOf, type ExchangeComparison } from '../../compare/index.js'
import type { Format } from '../../formats/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { acceptTexts, type MessageOutcome, type Plan, type RunResult } from '../../replay/index.js'
import { replaceFile } from '../../tape/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import type { OpenRecording } from '../recordings.js'

/**
 * The format in which `--update` writes the recording.
 *
 * @throws WiretapeError `usage` if the original form cannot be written
 */
export function updatableFormat(
  name: string,
  recording: OpenRecording,
  plan: Plan,
  { cwd }: Pick<Io, 'cwd'>,
): Format & Required<Pick<Format, 'write'>> {
  const [first, ...more] = recording.files
  const { format, path } = first!.file
  // Compressed files are read from a copy.
  if (path !== resolve(cwd, name))
    throw new WiretapeError(
      'usage',
      `${escapeText(name)} is compressed or not a file: --update cannot write it`,
      {
        hint: 'decompress it first',
      },
    )
  if (!format.write || more.length > 0 || plan.index.sessions.length > 1)
    throw new WiretapeError('usage', `${escapeText(name)} cannot be written`, {
      hint: 'convert it to a tape first',
    })
  return format as Format & Required<Pick<Format, 'write'>>
}

/** A recorded request of the server as received now, with its recorded id. */
export interface AskedNow {
  readonly comparison: ExchangeComparison
  readonly text: string
}

/**
 * `--update`: writes new responses and changed server requests into the recording and lists them.
 *
 * @returns the exit status
 */
export async function updateRecording(
  name: string,
  recording: OpenRecording,
  plan: Plan,
  { outcomes, asked }: { readonly outcomes: readonly MessageOutcome[]; readonly asked: readonly AskedNow[] },
  { offers, given, counts }: Pick<RunResult, 'offers' | 'given' | 'counts'>,
  io: Io,
): Promise<number> {
  const newOffers = offers.some((offer) => !isNote(offer))
  const accepted = outcomes.filter(
    ({ message, response, comparison }) =>
      response !== undefined &&
      message.peer >= 0 &&
      (comparison?.verdict !== 'same' || (newOffers && tellsOffers(message.method ?? ''))),
  )
  const questions = asked.filter(({ comparison }) => comparison.verdict !== 'same')
  const differing = Object.entries(counts).reduce(
    (sum, [verdict, n]) => (verdict === 'same' ? sum : sum + n),
    0,
  )
  const taken = accepted.filter(({ comparison }) => comparison?.verdict !== 'same').length + questions.length
  const left = differing - taken
  if (left > 0)
    await io.write(
      `Not accepted: ${countOf(left, 'exchange')} without a new response to a recorded request\n`,
    )
  const status = left > 0 ? exitCode.found : exitCode.done
  if (accepted.length === 0 && questions.length === 0) return status
  // Cursors and handles belong to the responses that brought them, so the whole run is kept.
  const { entries } = plan.index
  const texts = new Map<number, string>()
  for (const { message, sent, kept = sent, response } of outcomes) {
    if (kept !== undefined) texts.set(message.seq, kept)
    if (response !== undefined && message.peer >= 0) texts.set(entries.seq(message.peer), response)
  }
  for (const { comparison, text } of asked) if (comparison.before) texts.set(comparison.before.seq, text)
  const format = updatableFormat(name, recording, plan, io)
  const redacted = plan.session?.redaction !== 'none'
  const renewed = acceptTexts({ records: () => recording.records() }, texts, redacted, given)
  const bytes = format.write(renewed, () => undefined)
  await replaceFile(resolve(io.cwd, name), bytes, { backup: true })
  const what = [
    ...(accepted.length > 0 ? [countOf(accepted.length, 'response')] : []),
    ...(questions.length > 0 ? [`${countOf(questions.length, 'request')} of the server`] : []),
  ].join(' and ')
  await io.write(`Accepted ${what} into ${escapeText(name)}; the old one is kept as .bak\n`)
  const titles = new Map([
    ...accepted.map(
      ({ message }) => [message.seq, [message.method, message.name].filter(Boolean).join(' ')] as const,
    ),
    ...questions.map(({ comparison }) => [comparison.before?.seq ?? 0, titleOf(comparison)] as const),
  ])
  for (const [seq, title] of [...titles].toSorted(([a], [b]) => a - b))
    await io.write(`  #${seq} ${escapeText(title)}\n`)
  return status
}
