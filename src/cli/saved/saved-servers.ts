import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readConfiguredServer, type ConfiguredServer } from '../../clients/index.js'
import {
  openServer,
  connectTo,
  describeTarget,
  type OpenServer,
  type ReplayTarget,
} from '../../replay/index.js'
import type { SavedServer } from '../../saved-calls/index.js'
import { recorderOf } from '../run/called-server.js'
import { placesOf } from '../run/install.js'
import { parseHeader } from '../header-option.js'
import type { Io } from '../io.js'

/** A server of saved calls and how to reach it. */
export interface NamedServer {
  /** On one line, with the secrets known to redaction removed. */
  readonly label: string
  readonly target: ReplayTarget
  /** Without a recorder in front of it. */
  readonly direct: ReplayTarget
}

/**
 * How each server is reached, without connecting.
 *
 * @param recording folder for the recordings, and secrets to keep out of them
 * @throws WiretapeError `usage` for a missing server of a client, and for a forbidden header
 */
export async function reachServers(
  servers: readonly SavedServer[],
  recording: { readonly folder: string; readonly secrets: readonly string[] } | undefined,
  io: Io,
): Promise<{ reached: ReadonlyMap<string, NamedServer>; close: () => Promise<void> }> {
  const reached = new Map<string, NamedServer>()
  const unpacked: ConfiguredServer[] = []
  let rules: RulesFile | undefined
  const close = async (): Promise<void> => {
    await rules?.remove()
    for (const server of unpacked) await server.close?.()
  }
  try {
    rules = recording && (await writeRules(recording.secrets))
    for (const server of servers) {
      const key = keyOf(server)
      if (reached.has(key)) continue
      const direct = 'client' in server ? await clientTarget(server.client, unpacked, io) : targetOf(server)
      const label = 'client' in server ? server.client : describeTarget(direct)
      const target = recording ? recorded(direct, resolve(io.cwd, recording.folder), rules?.path) : direct
      reached.set(key, { label, target, direct })
    }
    return { reached, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Equal for servers that share a connection. */
export function keyOf(server: SavedServer): string {
  return JSON.stringify(server)
}

function targetOf(server: Exclude<SavedServer, { readonly client: string }>): ReplayTarget {
  if ('command' in server) return server
  return { url: server.url, headers: checkedHeaders(server.headers) }
}

async function clientTarget(name: string, unpacked: ConfiguredServer[], io: Io): Promise<ReplayTarget> {
  const [, config] = await recorderOf([], { server: name }, io)
  const server = await readConfiguredServer(config!, name, placesOf(io))
  unpacked.push(server)
  const { target, env, cwd } = server
  if (target.kind === 'remote') return { url: target.url, headers: checkedHeaders(target.headers) }
  return { command: target.command, env, ...(cwd !== undefined && { cwd }) }
}

/** Checked like the option; values are already filled in. @throws WiretapeError `usage` */
export function checkedHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): [string, string][] {
  return headers.map(([name, given]) => {
    const { value } = parseHeader(`${name}: \${VALUE}`, { VALUE: given })
    return [name, value]
  })
}

/** A recorder in front of the server. @param options of `wiretape record` */
export function recorded(
  target: ReplayTarget,
  folder: string,
  rules: string | undefined,
  options: readonly string[] = [],
): ReplayTarget {
  const own = [process.execPath, process.argv[1]!, 'record', '--quiet', '--out', folder, ...options]
  if (rules !== undefined) own.push('--redact-file', rules)
  if ('command' in target) return { ...target, command: [...own, '--', ...target.command] }
  const env: Record<string, string> = {}
  // Other users can read command lines; in the environment, the recorder treats these values as secrets.
  const headers = (target.headers ?? []).flatMap(([name, value], i) => {
    env[`WIRETAPE_HEADER_${i}`] = value
    return ['--header', `${name}: \${WIRETAPE_HEADER_${i}}`]
  })
  return { command: [...own, '--bridge', '--url', target.url, ...headers], env }
}

interface RulesFile {
  readonly path: string
  remove(): Promise<void>
}

/** Secrets for recorders are in a file: other users of the machine could read a command line. */
async function writeRules(secrets: readonly string[]): Promise<RulesFile | undefined> {
  if (secrets.length === 0) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'wiretape-run-'))
  const path = join(folder, 'redact.json')
  const rules = secrets.flatMap(literalPatterns).map((regex) => ({ name: 'environment', regex }))
  await writeFile(path, JSON.stringify({ rules }), { mode: 0o600 })
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Characters per pattern; each may take six, and patterns are limited to 2,000. */
const longestPiece = 300

/** RE2 patterns that match only this text, or long pieces of it. */
function literalPatterns(text: string): string[] {
  const patterns: string[] = []
  const pieces = Math.ceil(text.length / longestPiece)
  const size = Math.ceil(text.length / pieces)
  for (let at = 0; at < text.length; at += size) patterns.push(literalPattern(text.slice(at, at + size)))
  return patterns
}

function literalPattern(text: string): string {
  return text.replaceAll(/\W/gu, (char) => `\\x{${char.codePointAt(0)!.toString(16)}}`)
}

/** If a server refuses the POST of Streamable HTTP, HTTP+SSE is tried, as the specification requires of clients. */
async function openTarget(
  target: ReplayTarget,
  times: Parameters<typeof openServer>[1],
): Promise<OpenServer | { readonly error: string }> {
  const opened = await openServer(connectTo(target), times)
  if (!('error' in opened) || 'command' in target || !/\bHTTP 40[045]\b/.test(opened.error)) return opened
  const older = await openServer(connectTo({ ...target, transport: 'sse' }), times)
  return 'error' in older ? opened : older
}

/** Connections, each opened once on first use. */
export function createConnections(
  reached: ReadonlyMap<string, NamedServer>,
  times: { readonly timeoutMs: number; readonly signal: AbortSignal },
): {
  open(key: string): Promise<OpenServer | { readonly error: string }>
  close(): Promise<void>
} {
  const opened = new Map<string, Promise<OpenServer | { readonly error: string }>>()
  return {
    open(key) {
      const before = opened.get(key)
      if (before) return before
      const opening = openTarget(reached.get(key)!.target, times)
      opened.set(key, opening)
      return opening
    },
    async close() {
      for (const opening of opened.values()) {
        const server = await opening
        if (!('error' in server)) await server.close()
      }
    },
  }
}
