import { detailsOf } from '../../compare/index.js'
import { splitCommandLine, WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { parseHttpUrl } from '../http-url-option.js'
import type { Io } from '../io.js'
import { runReplayCommand } from './replay.js'
import type { Teller } from './replay-output.js'
import type { ReplayOptions } from './replay-options.js'

export interface ProxyReplayOptions extends Omit<ReplayOptions, 'url'> {
  readonly sessionFile: string
  readonly targetCommand?: string
  readonly targetUrl?: string
}

/** The session workflow's replay, with its options, lines and result file, and with verdicts. */
export async function runProxyReplay(options: ProxyReplayOptions, io: Io): Promise<number> {
  const { sessionFile, targetCommand, targetUrl, ...rest } = options
  if (targetCommand === undefined && targetUrl === undefined) {
    throw new WiretapeError('usage', 'either --target-command or --target-url is required', {
      hint: 'see wiretape proxy replay --help',
    })
  }
  // As documented, the command wins.
  if (targetCommand === undefined) parseHttpUrl(targetUrl!, '--target-url')
  if (targetCommand === undefined)
    return runReplayCommand(sessionFile, [], { ...rest, url: targetUrl! }, io, teller)
  const split = splitCommandLine(targetCommand)
  if ('fault' in split) throw new WiretapeError('usage', `--target-command: ${split.fault}`)
  if (split.words.length === 0) throw new WiretapeError('usage', '--target-command is empty')
  return runReplayCommand(sessionFile, split.words, rest, io, teller)
}

const mostDetails = 12

const teller: Teller = {
  start: ({ messages }, target) => `Replaying ${messages} messages against "${target}"...\n`,
  outcome({ message, status, error, durationUs, comparison }) {
    const what = message.method ?? '(response)'
    const about = message.kind === 'notification' ? '(notification)' : `(id=${message.id ?? 'none'})`
    const name = message.name === undefined ? '' : ` ${message.name}`
    const verdict = comparison?.verdict ?? 'same'
    const mark = verdict === 'same' && status !== 'not sent' ? '✓' : '✗'
    const ms = durationUs === undefined ? '' : ` ${Math.round(durationUs / 1000)}ms`
    const why = error ?? (verdict === 'same' ? '' : verdict)
    const line = `#${String(message.index).padStart(3, '0')} → ${what}${name} ${about} ${mark}${ms}${why === '' ? '' : ` ${why}`}`
    const details = comparison && verdict !== 'same' && error === undefined ? detailsOf(comparison) : []
    const below = details.slice(0, mostDetails).map((detail) => `         ${escapeText(detail)}\n`)
    return `  ${escapeText(line)}\n${below.join('')}`
  },
  end({ total, failed }, output) {
    const counts = `${total - failed}/${total} succeeded${failed > 0 ? `, ${failed} failed` : ''}`
    return `\nResults: ${counts}\n${output === undefined ? '' : `Results saved to ${escapeText(output)}\n`}`
  },
}
