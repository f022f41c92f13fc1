import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Fields, PinnedKind, PinnedServer } from '../../findings/index.js'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { replaceFile } from '../../tape/index.js'
import type { Io } from '../io.js'

export const usualLock = 'wiretape.lock'
const version = 1

/** Members of a server in the file, by kind. */
const members: Readonly<Record<PinnedKind, string>> = {
  server: 'server',
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'resourceTemplates',
}

/** Pinned servers by name. */
export type Pins = ReadonlyMap<string, PinnedServer>

/**
 * @returns undefined if the file is missing
 * @throws WiretapeError `usage` for a file that is no lock file or has hashes that do not match its values
 */
export async function readLock(file: string, io: Io): Promise<Pins | undefined> {
  const unusable = (why: string): WiretapeError =>
    new WiretapeError('usage', `${escapeText(file)} is not a lock file: ${why}`, {
      hint: 'create one with wiretape pin RECORDING',
    })
  let text
  try {
    text = await readFile(resolve(io.cwd, file), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable('it cannot be read')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unusable('it is not JSON')
  }
  const { version: found, servers } = mapOf(value, () => unusable('it is not an object'))
  if (found !== version) throw unusable(`its version is not ${version}`)
  return new Map(
    Object.entries(mapOf(servers, () => unusable('it has no servers'))).map(([name, server]) => [
      name,
      serverOf(server, (why) => unusable(`${escapeText(name)}: ${why}`)),
    ]),
  )
}

type Unusable = (why: string) => WiretapeError

function serverOf(value: unknown, unusable: Unusable): PinnedServer {
  const server = mapOf(value, () => unusable('it is not an object'))
  const pinned = new Map<PinnedKind, ReadonlyMap<string, Fields>>()
  for (const kind of Object.keys(members) as PinnedKind[]) {
    const member = members[kind]
    if (!Object.hasOwn(server, member)) continue
    const items = Object.entries(mapOf(server[member], () => unusable(`${member} is not an object`)))
    pinned.set(kind, new Map(items.map(([name, fields]) => [name, fieldsOf(name, fields, unusable)])))
  }
  return pinned
}

function fieldsOf(of: string, value: unknown, unusable: Unusable): Fields {
  const wrong = (name: string): WiretapeError =>
    unusable(
      `the hash of ${[of, name].filter(Boolean).map(escapeText).join(' ')} does not match its value: the file was edited by hand`,
    )
  return new Map(
    Object.entries(mapOf(value, () => unusable(`${escapeText(of)} is not an object`))).map(
      ([name, field]) => {
        const pin = mapOf(field, () => wrong(name))
        const text = JSON.stringify(pin['value'])
        if (text === undefined || pin['sha256'] !== hashOf(text)) throw wrong(name)
        return [name, text]
      },
    ),
  )
}

function mapOf(value: unknown, wrong: () => WiretapeError): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong()
  return value as Record<string, unknown>
}

/** Writes the file atomically: members sorted by name, one hash per field. */
export async function writeLock(file: string, pins: Pins, io: Io): Promise<void> {
  const servers = objectOf(pins, (server) =>
    Object.fromEntries(
      (Object.keys(members) as PinnedKind[])
        .filter((kind) => server.has(kind))
        .map((kind) => [
          members[kind],
          objectOf(server.get(kind)!, (fields) =>
            objectOf(fields, (text) => ({ sha256: hashOf(text), value: JSON.parse(text) as unknown })),
          ),
        ]),
    ),
  )
  const text = `${JSON.stringify({ version, servers }, null, 2)}\n`
  await replaceFile(resolve(io.cwd, file), text)
}

function objectOf<V, W>(map: ReadonlyMap<string, V>, of: (value: V) => W): Record<string, W> {
  const sorted = [...map].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, value]) => [name, of(value)]))
}

/** Hash of a value's canonical JSON text. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
