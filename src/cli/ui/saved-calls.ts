import { stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { WiretapeError, type Diagnostic } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { createWithoutSecrets, describeTarget } from '../../replay/index.js'
import {
  parseSavedCalls,
  type FileVariable,
  type SavedFile,
  type SavedServer,
  type SavedServerShown,
} from '../../saved-calls/index.js'
import type { CallsToRun, Given, RecordedServer, SavedCalls, SavedRun } from '../../ui-server/index.js'
import { jsonIn } from '../../wire/index.js'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { captureIo } from '../mcp/captured-io.js'
import { runCalls } from '../run/run-calls.js'
import { openCallFile } from '../saved/save-call.js'
import { fileText, parseVariables, savedFiles } from '../saved/saved-files.js'
import { shownServers } from './shown-servers.js'

const timeoutMs = 60_000
/** Shorter values occur in every text. */
const shortestSecret = 4
/** The only file names that pages may use. */
const fileName = /^[\w-][\w.-]{0,100}\.ya?ml$/

/** The folder of saved calls: the named one, or `calls` in the working folder. */
export async function savedCallsIn(named: string | undefined, io: Io): Promise<SavedCalls> {
  const folder = resolve(io.cwd, named ?? 'calls')
  const info = await stat(folder).catch(() => undefined)
  if (named !== undefined && !info?.isDirectory())
    throw new WiretapeError('usage', `--calls ${named} is not a folder`, {
      hint: 'create it, or choose another one',
    })
  const files = async (): Promise<string[]> =>
    savedFiles([relative(io.cwd, folder) || '.'], io).catch((error: unknown) => {
      // A folder without calls, or a missing one, may get its first call.
      if (error instanceof WiretapeError) return []
      throw error
    })
  return {
    folder,
    async list(given) {
      const listed = []
      for (const file of await files()) listed.push(await savedFile(file, given.get(file) ?? {}, io))
      return listed
    },
    run: async (wanted, isAllowed, signal) => {
      if (!(await files()).includes(wanted.file))
        throw new WiretapeError('usage', 'no such file of saved calls', { hint: 'reload the page' })
      return runFile(wanted, isAllowed, signal, io)
    },
    async save({ file, server, method, params, answer }) {
      if (!fileName.test(file))
        throw new WiretapeError('usage', 'the file name must end with .yaml', { hint: 'shop.yaml' })
      const opened = await openCallFile(join(folder, file), io)
      const from = { server: savedServer(server), templates: [] }
      return (await opened.save(from, { method, params }, answer)).trimEnd()
    },
  }
}

/** Thrown before a server without consent would be started. */
class NotAllowed extends Error {
  readonly servers: readonly SavedServerShown[]
  constructor(servers: readonly SavedServerShown[]) {
    super('a server needs consent')
    this.servers = servers
  }
}

async function runFile(
  { file, name, given }: CallsToRun,
  isAllowed: (key: string) => boolean,
  signal: AbortSignal,
  io: Io,
): ReturnType<SavedCalls['run']> {
  const captured = captureIo(io, io.cwd)
  const options = {
    json: true,
    timeout: timeoutMs,
    record: recordingsIn(io.dataFolder),
    signal,
    var: Object.entries(given).map(([variable, value]) => `${variable}=${value}`),
    ...(name !== undefined && { only: name }),
    async permit(
      servers: Parameters<typeof shownServers>[0],
      secrets: Parameters<typeof shownServers>[1],
    ): Promise<void> {
      // Checked here, of the very servers that the run would start: the file may have changed since it was shown.
      const shown = await shownServers(servers, secrets, io)
      const ask = shown.filter(({ key }) => !isAllowed(key))
      if (ask.length > 0) throw new NotAllowed(ask)
    },
  }
  try {
    await runCalls([file], [], options, captured.io)
  } catch (error) {
    if (error instanceof NotAllowed) return { ask: error.servers }
    throw error
  }
  const text = captured.text()
  if (text === '') throw new WiretapeError('usage', captured.complaints.join('; '))
  return { exchanges: (JSON.parse(text) as { readonly exchanges: SavedRun[] }).exchanges }
}

async function savedFile(file: string, given: Given, io: Io): Promise<SavedFile> {
  const used = { names: new Set<string>(), secrets: new Set<string>() }
  try {
    const values = parseVariables(Object.entries(given).map(([name, value]) => `${name}=${value}`))
    const text = await fileText(file, io)
    const { calls, diagnostics, variables } = parseSavedCalls(text, { given: values, env: process.env }, used)
    const secrets = [...used.secrets].filter(({ length }) => length >= shortestSecret)
    const withoutSecrets = createWithoutSecrets(undefined, secrets)
    const shown = withoutSecrets({
      calls: calls.map(({ name, line, method, subject, server }) => ({
        name,
        line,
        what: subject ?? method,
        server: server ? labelOf(server) : '',
      })),
      variables: variables.map(shownVariable),
    })
    const [fault] = diagnostics
    return { file, ...shown, ...(fault && { fault: faultLine(file, fault, diagnostics.length) }) }
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    return { file, calls: [], variables: [], fault: error.message }
  }
}

function shownVariable({ name, json, isSecret }: FileVariable): SavedFile['variables'][number] {
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  // A text that is JSON itself needs its quotes, or it would become a number.
  const typed = typeof value === 'string' && jsonIn(value) === undefined ? value : json
  return { name, isSecret, ...(typed !== undefined && { value: typed }) }
}

function faultLine(file: string, { message, at }: Diagnostic, count: number): string {
  const place = at?.line === undefined ? '' : `, line ${at.line}`
  const others = count > 1 ? ` (${count - 1} more)` : ''
  return `${escapeText(file)}${place}: ${message}${others}`
}

function savedServer({ command, url, shown, why }: RecordedServer): SavedServer {
  if (command) return { command, env: {} }
  if (url !== undefined) return { url, headers: [] }
  throw new WiretapeError('usage', `calls of ${shown} cannot be saved: ${why ?? 'its server is unknown'}`)
}

function labelOf(server: SavedServer): string {
  return 'client' in server ? server.client : describeTarget(server)
}
