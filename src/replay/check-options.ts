import { isCommandLine, WiretapeError } from '../model/index.js'
import type { ReplayOptions } from './replay.js'
import type { ReplayTarget } from './target.js'

/** What Node's timers hold. */
const longestTimerMs = 2 ** 31 - 1

/** Of options that are one of some words. */
const choices: Readonly<Record<'unanswered' | 'concurrency' | 'level', readonly string[]>> = {
  unanswered: ['error', 'empty', 'fail'],
  concurrency: ['one', 'recorded'],
  level: ['exact', 'semantic', 'schema'],
}

/** Those who write JavaScript have no compiler to tell them. @throws WiretapeError `usage` */
export function checkOptions(options: ReplayOptions): void {
  const { timeoutMs = 10_000, speed = Infinity } = options
  if (!(timeoutMs > 0 && timeoutMs <= longestTimerMs))
    refuse('option timeoutMs', `it is a number of milliseconds, from 1 to ${longestTimerMs}`)
  if (!(speed > 0)) refuse('option speed', 'it is a number above 0, or Infinity')
  for (const [name, words] of Object.entries(choices)) {
    const value = options[name as keyof typeof choices]
    if (value !== undefined && !words.includes(value)) refuse(`option ${name}`, `it is ${words.join(', ')}`)
  }
}

/** As `checkOptions`, for whom is asked. */
export function checkTarget(target: ReplayTarget): void {
  const { command, url, transport }: { command?: unknown; url?: unknown; transport?: unknown } = target ?? {}
  if ((command === undefined) === (url === undefined))
    refuse('target', "it is { command: ['node', 'server.js'] } or { url: 'http://…' }")
  if (command !== undefined && !isCommandLine(command))
    refuse('target', "its command is a list of texts: ['node', 'server.js']")
  if (url !== undefined && typeof url !== 'string') refuse('target', 'its url is a text')
  if (transport !== undefined && transport !== 'sse' && transport !== 'streamable-http')
    refuse('target', 'its transport is streamable-http or sse')
}

function refuse(what: string, hint: string): never {
  throw new WiretapeError('usage', `the ${what} makes no sense`, { hint })
}
