import { readFile, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { createWithoutSecrets, describeTarget } from '../../replay/index.js'
import { parseSavedCalls, type SavedServer } from '../../saved-calls/index.js'
import type { RecordedServer, SavedCalls, SavedRun } from '../../ui-server/index.js'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { captureIo } from '../mcp/captured-io.js'
import { runCalls } from '../run/run-calls.js'
import { openCallFile } from '../saved/save-call.js'
import { savedFiles } from '../saved/saved-files.js'

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
    async list() {
      const listed = []
      for (const file of await files()) {
        const used = { names: new Set<string>(), secrets: new Set<string>() }
        const text = await readFile(resolve(io.cwd, file), 'utf8').catch(() => '')
        const { calls, diagnostics } = parseSavedCalls(text, { given: new Map(), env: process.env }, used)
        const secrets = [...used.secrets].filter(({ length }) => length >= shortestSecret)
        const shown = createWithoutSecrets(
          undefined,
          secrets,
        )(
          calls.map(({ name, line, method, subject, server }) => ({
            name,
            line,
            what: subject ?? method,
            server: server ? labelOf(server) : '',
          })),
        )
        const [fault] = diagnostics
        const at = fault?.at?.line === undefined ? '' : `line ${fault.at.line}: `
        listed.push({ file, calls: shown, ...(fault && { fault: `${at}${fault.message}` }) })
      }
      return listed
    },
    async run(only, signal) {
      const all = await files()
      const wanted = only ? all.filter((file) => file === only.file) : all
      if (wanted.length === 0) throw new WiretapeError('usage', 'no such file of saved calls')
      const captured = captureIo(io, io.cwd)
      const options = {
        json: true,
        timeout: timeoutMs,
        record: recordingsIn(io.dataFolder),
        signal,
        ...(only?.name !== undefined && { only: only.name }),
      }
      await runCalls(wanted, [], options, captured.io)
      const text = captured.text()
      if (text === '') throw new WiretapeError('usage', captured.complaints.join('; '))
      return (JSON.parse(text) as { readonly exchanges: SavedRun[] }).exchanges
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

function savedServer({ command, url, shown, why }: RecordedServer): SavedServer {
  if (command) return { command, env: {} }
  if (url !== undefined) return { url, headers: [] }
  throw new WiretapeError('usage', `calls of ${shown} cannot be saved: ${why ?? 'its server is unknown'}`)
}

function labelOf(server: SavedServer): string {
  return 'client' in server ? server.client : describeTarget(server)
}
