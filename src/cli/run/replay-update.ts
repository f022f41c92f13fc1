import { resolve } from 'node:path'
import { isNote, tellsOffers } from '../../compare/index.js'
import type { Format } from '../../formats/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { acceptTexts, type MessageOutcome, type Plan, type RunResult } from '../../replay/index.js'
import { replaceFile } from '../../tape/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import type { OpenRecording } from '../recordings.js'

/**
 * The format that `--update` writes the recording in.
 *
 * @throws WiretapeError `usage` when it cannot be put back as it was
 */
export function updatableFormat(
  name: string,
  recording: OpenRecording,
  plan: Plan,
  { cwd }: Pick<Io, 'cwd'>,
): Format & Required<Pick<Format, 'write'>> {
  const [first, ...more] = recording.files
  const { format, path } = first!.file
  // What is packed is read from an unpacked copy.
  if (path !== resolve(cwd, name))
    throw new WiretapeError('usage', `${escapeText(name)} is packed or no file: --update cannot write it`, {
      hint: 'unpack it first',
    })
  if (!format.write || more.length > 0 || plan.index.sessions.length > 1)
    throw new WiretapeError('usage', `${escapeText(name)} cannot be written`, {
      hint: 'convert it to a tape first',
    })
  return format as Format & Required<Pick<Format, 'write'>>
}

/**
 * `--update`: puts the new answers into the recording and says which.
 *
 * @returns the exit status
 */
export async function updateRecording(
  name: string,
  recording: OpenRecording,
  plan: Plan,
  outcomes: readonly MessageOutcome[],
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
  const differing = Object.entries(counts).reduce(
    (sum, [verdict, n]) => (verdict === 'same' ? sum : sum + n),
    0,
  )
  const left = differing - accepted.filter(({ comparison }) => comparison?.verdict !== 'same').length
  if (left > 0)
    await io.write(`Not accepted: ${countOf(left, 'exchange')} without a new answer to a recorded request\n`)
  const status = left > 0 ? exitCode.found : exitCode.done
  if (accepted.length === 0) return status
  // Cursors and handles go with the answers that brought them, so the whole run is taken.
  const { entries } = plan.index
  const texts = new Map<number, string>()
  for (const { message, sent, kept = sent, response } of outcomes) {
    if (kept !== undefined) texts.set(message.seq, kept)
    if (response !== undefined && message.peer >= 0) texts.set(entries.seq(message.peer), response)
  }
  const format = updatableFormat(name, recording, plan, io)
  const redacted = plan.session?.redaction !== 'none'
  const renewed = acceptTexts({ records: () => recording.records() }, texts, redacted, given)
  const bytes = format.write(renewed, () => undefined)
  await replaceFile(resolve(io.cwd, name), bytes, { backup: true })
  await io.write(
    `Accepted ${countOf(accepted.length, 'answer')} into ${escapeText(name)}; the old one is kept as .bak\n`,
  )
  for (const { message } of accepted) {
    await io.write(
      `  #${message.seq} ${escapeText([message.method, message.name].filter(Boolean).join(' '))}\n`,
    )
  }
  return status
}
