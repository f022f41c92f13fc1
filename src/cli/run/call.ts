import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { callOnce, type CallRequest } from '../../replay/index.js'
import { escapeJson, escapeLines, escapeText, indentJson } from '../../render/index.js'
import { listTapes } from '../../tape/index.js'
import { connectStdio } from '../../link/index.js'
import { createDeadline } from '../../transports/index.js'
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { hasAudience, say, type Io } from '../io.js'
import { recorderOf, serverOf, type ServerOptions } from './called-server.js'

export interface CallOptions extends ServerOptions {
  readonly from?: string
  readonly set?: readonly string[]
  readonly yes?: boolean
  readonly out?: string
  /** File of saved calls to which the call is added. */
  readonly save?: string
  /** Milliseconds. */
  readonly timeout: number
  readonly json?: boolean
  readonly signal?: AbortSignal
  /** Called with the path of the tape. */
  readonly onTape?: (path: string) => void
}

/** Makes one call through its own recorder and prints the result. Exits with 1 if the call failed. */
export async function runCall(
  words: readonly string[],
  command: readonly string[],
  options: CallOptions,
  io: Io,
): Promise<number> {
  checkUse(command, options)
  const { request, recorder, server } =
    options.from === undefined
      ? {
          request: newCall(words),
          recorder: await recorderOf(command, options, io),
          server: serverOf(command, options),
        }
      : await (await import('./recorded-call.js')).recordedCall(options.from, words, command, options, io)
  if (recorder === undefined) return exitCode.done
  const file =
    options.save === undefined
      ? undefined
      : await (await import('../saved/save-call.js')).openCallFile(options.save, io)
  const own = [process.execPath, process.argv[1]!, 'record']
  const out = options.out === undefined ? recordingsIn(io.dataFolder) : resolve(io.cwd, options.out)
  const id = randomUUID().slice(0, 8)
  const aborted = createDeadline({ ...(options.signal && { signal: options.signal }) })
  const outcome = await callOnce(
    (events) =>
      connectStdio([...own, '--out', out, '--meta', `call=${id}`, ...recorder], {
        ...events,
        stderr: (bytes) => void process.stderr.write(bytes),
      }),
    request,
    { timeoutMs: options.timeout, signal: aborted.signal },
  ).finally(() => aborted.close())
  await tellTape(out, id, options.onTape)
  if ('error' in outcome) throw new WiretapeError('unreadable', `the call got no response: ${outcome.error}`)
  const code = await printAnswer(outcome.answer, options.json === true, io)
  if (file) {
    const templates = [...(options.set ?? []), ...(options.header ?? [])]
    const line = await file.save({ server, templates }, request, outcome.answer)
    await io.flush()
    say(line)
  }
  return code
}

/** Prints the path of the recording. */
async function tellTape(
  folder: string,
  id: string,
  onTape: ((path: string) => void) | undefined,
): Promise<void> {
  if (!hasAudience() && !onTape) return
  const tapes = await listTapes(folder).catch(() => [])
  const made = tapes.find(({ meta }) =>
    meta.wiretape?.metadata?.some(([key, text]) => key === 'call' && text === JSON.stringify(id)),
  )
  if (made && onTape) onTape(made.path)
  else if (made) say(`recorded: ${escapeText(made.path)}\n`)
}

function checkUse(command: readonly string[], { server, url, from, set, header }: CallOptions): void {
  const wrong = (message: string, hint: string): WiretapeError =>
    new WiretapeError('usage', message, { hint })
  const targets = [command.length > 0, url !== undefined, server !== undefined].filter(Boolean).length
  if (targets > 1) throw wrong('--server, --url and a command cannot be combined', 'name one')
  if (targets === 0 && from === undefined)
    throw wrong('a server is needed', 'name the server with --server or --url, or its command after --')
  if (set !== undefined && from === undefined)
    throw wrong('--set needs a recorded request', 'add --from RECORDING')
  if (header !== undefined && url === undefined) throw wrong('--header needs --url', 'add --url')
}

/** A tool call from words: its name, and its arguments as JSON. */
function newCall(words: readonly string[]): CallRequest {
  const [tool, json = '{}', ...more] = words
  if (tool === undefined)
    throw new WiretapeError('usage', 'a tool is needed', {
      hint: 'wiretape call echo \'{"message":"hi"}\' -- node server.js',
    })
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // Reported below.
  }
  if (more.length > 0 || typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WiretapeError('usage', 'the arguments of a tool must be one JSON object', {
      hint: 'quote it: \'{"message":"hi"}\'',
    })
  return { method: 'tools/call', params: `{"name":${JSON.stringify(tool)},"arguments":${json.trim()}}` }
}

interface ToolResult {
  readonly isError?: unknown
  readonly content?: unknown
}

async function printAnswer(answer: string, asJson: boolean, io: Io): Promise<number> {
  const { result, error } = JSON.parse(answer) as {
    result?: ToolResult
    error?: { code?: unknown; message?: unknown }
  }
  const failed = result === undefined || result.isError === true
  if (asJson || result === undefined) {
    // The exact response, including member order and numbers.
    const text = asJson ? answer : JSON.stringify(error)
    await io.write(`${escapeJson(indentJson(text))}\n`, 'data')
    return failed ? exitCode.found : exitCode.done
  }
  await io.write(`${resultText(result) ?? escapeJson(JSON.stringify(result, null, 2))}\n`)
  return failed ? exitCode.found : exitCode.done
}

/** Text of a tool's result for a person; undefined without content of a known kind. */
function resultText({ content }: ToolResult): string | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined
  const parts = content.map(
    (part: { type?: unknown; text?: unknown; mimeType?: unknown; data?: unknown; uri?: unknown }) => {
      if (part?.type === 'text' && typeof part.text === 'string') return escapeLines(part.text)
      const kind = [part?.type, part?.mimeType, part?.uri]
        .filter((word) => typeof word === 'string')
        .join(' ')
      const size = typeof part?.data === 'string' ? `, ${part.data.length} characters of base64` : ''
      return escapeText(`[${kind}${size}; --json prints it]`)
    },
  )
  return parts.join('\n').replace(/\n$/, '')
}
