import { configuredServerOf, findClients } from '../../clients/index.js'
import { checkCommand, checkMachine, checkUrl, type Step } from '../../doctor/index.js'
import { WiretapeError } from '../../model/index.js'
import { createStyle, escapeJson, escapeText, pad } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { parseHeader } from '../header-option.js'
import type { Io } from '../io.js'
import { placesOf } from './install.js'
import { parseHttpUrl } from '../http-url-option.js'

export interface DoctorOptions {
  readonly url?: string
  readonly header?: readonly string[]
  /** Milliseconds. */
  readonly timeout?: number
  readonly json?: boolean
}

const usualTimeoutMs = 30_000
/** Width of step names. */
const nameWidth = 20

/** Prints a line for each finished step. Exits with 1 if a step failed. */
export async function runDoctor(words: readonly string[], options: DoctorOptions, io: Io): Promise<number> {
  const style = createStyle(io.colours)
  const done: Step[] = []
  for await (const step of await stepsFor(words, options, io)) {
    done.push(step)
    if (options.json) continue
    const sign = { ok: style.green('✓'), note: style.yellow('·'), failed: style.red('✗') }[step.state]
    await io.write(`${sign} ${pad(escapeText(step.name), nameWidth, 'right')}  ${escapeText(step.found)}\n`)
    if (step.advice !== undefined)
      await io.write(`  ${pad('', nameWidth, 'right')}  ${style.bold('→')} ${escapeText(step.advice)}\n`)
    await io.flush()
  }
  const isSound = done.every(({ state }) => state !== 'failed')
  if (options.json)
    await io.write(`${escapeJson(JSON.stringify({ version: 1, ok: isSound, steps: done }, null, 2))}\n`)
  return isSound ? exitCode.done : exitCode.found
}

async function stepsFor(
  words: readonly string[],
  { url, header = [], timeout: timeoutMs = usualTimeoutMs }: DoctorOptions,
  io: Io,
): Promise<AsyncIterable<Step>> {
  if (url !== undefined) {
    if (words.length > 0)
      throw new WiretapeError('usage', '--url and a command cannot be combined', { hint: 'name one' })
    const headers = header.map((text) => parseHeader(text, process.env))
    return checkUrl({
      url: parseHttpUrl(url, '--url'),
      headers: headers.map(({ name, value }) => [name, value]),
      timeoutMs,
    })
  }
  const [first] = words
  if (first === undefined) return checkMachine({ dataFolder: io.dataFolder, places: placesOf(io) })
  // A single word is a server's name if a client has one with that name; otherwise it is a command.
  const clients = words.length === 1 ? await findClients(placesOf(io)) : []
  for (const { files } of clients) {
    for (const { place, servers } of files) {
      const entry = servers.find(({ name }) => name === first)
      if (!entry) continue
      const { target, env, cwd } = configuredServerOf(entry, place.dialect, place.path, placesOf(io))
      if (target.kind === 'stdio')
        return checkCommand({ ...target, env, ...(cwd !== undefined && { cwd }), timeoutMs })
      return checkUrl({ url: parseHttpUrl(target.url, 'url'), headers: target.headers, timeoutMs })
    }
  }
  return checkCommand({ command: words, timeoutMs })
}
