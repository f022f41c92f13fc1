import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, sep } from 'node:path'
import { strFromU8, unzip, type Unzipped } from 'fflate'
import { WiretapeError } from '../../model/index.js'
import type { Places } from '../catalogue/index.js'
import type { ConfiguredServer } from './configured.js'

/** Limits of an unpacked bundle. */
const mostBytes = 512 * 1024 * 1024
const mostFiles = 20_000

interface Manifest {
  readonly name?: unknown
  readonly server?: { readonly mcp_config?: McpConfig }
  readonly user_config?: Readonly<Record<string, { readonly default?: unknown; readonly required?: unknown }>>
}
interface McpConfig {
  readonly command?: unknown
  readonly args?: unknown
  readonly env?: unknown
  readonly platform_overrides?: Readonly<Record<string, McpConfig>>
}

/**
 * Unpacks an MCP bundle (manifest specification 0.3) into a private temporary folder and reads its command.
 * Values for users to fill in come from the environment: names of `user_config` in capitals.
 *
 * @throws WiretapeError for a damaged bundle, one without a command, or a missing value
 */
export async function openBundle(
  bytes: Uint8Array,
  path: string,
  { home }: Places,
): Promise<ConfiguredServer> {
  const wrong = (reason: string, hint?: string): WiretapeError =>
    new WiretapeError('unreadable', `cannot read ${path}: ${reason}`, hint === undefined ? {} : { hint })
  const files = await unpack(bytes).catch((error: unknown) => {
    throw wrong(error instanceof Error ? error.message : String(error))
  })
  const manifestBytes = files['manifest.json']
  if (!manifestBytes) throw wrong('it has no manifest.json')
  let manifest: Manifest
  try {
    manifest = JSON.parse(strFromU8(manifestBytes)) as Manifest
  } catch {
    throw wrong('its manifest.json is not JSON')
  }
  const general = manifest.server?.mcp_config
  const config = { ...general, ...general?.platform_overrides?.[process.platform] }
  if (typeof config.command !== 'string') throw wrong('its manifest has no server.mcp_config.command')
  const folder = await mkdtemp(join(tmpdir(), 'wiretape-bundle-'))
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await writeFiles(folder, files)
    const missing: string[] = []
    const fill = (text: string): string =>
      text.replaceAll(/\$\{(__dirname|HOME|user_config\.([\w.-]+))\}/g, (_, name: string, key?: string) => {
        if (key === undefined) return name === 'HOME' ? home : folder
        const variable = key.toUpperCase().replaceAll(/\W/g, '_')
        const { default: usual, required } = manifest.user_config?.[key] ?? {}
        const value = process.env[variable] ?? (isPlain(usual) ? String(usual) : undefined)
        if (value === undefined && required === true) missing.push(variable)
        return value ?? ''
      })
    const args = Array.isArray(config.args) ? config.args.map((arg) => fill(String(arg))) : []
    const pairs = typeof config.env === 'object' && config.env !== null ? Object.entries(config.env) : []
    const env = Object.fromEntries(pairs.map(([key, value]) => [key, fill(String(value))]))
    const command = [fill(config.command), ...args]
    if (missing.length > 0)
      throw wrong(`it needs values for ${missing.join(', ')}`, 'set these variables in the environment')
    const name = typeof manifest.name === 'string' ? manifest.name : 'bundle'
    return { name, target: { kind: 'stdio', command }, env, close }
  } catch (error) {
    await close()
    throw error
  }
}

function unpack(bytes: Uint8Array): Promise<Unzipped> {
  let total = 0
  let count = 0
  return new Promise((resolve, reject) => {
    unzip(
      bytes,
      {
        filter({ name, originalSize }) {
          total += originalSize
          count += 1
          return !name.endsWith('/') && total <= mostBytes && count <= mostFiles
        },
      },
      (error, files) => {
        if (error) reject(new Error(`it is not a zip archive, or is damaged (${error.message})`))
        else if (total > mostBytes || count > mostFiles)
          reject(new Error('it unpacks to more than 512 MB or more than 20,000 files'))
        else resolve(files)
      },
    )
  })
}

async function writeFiles(folder: string, files: Unzipped): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    const path = normalize(join(folder, name))
    // A name with `..` would leave the folder.
    if (!path.startsWith(folder + sep))
      throw new WiretapeError('unreadable', `the bundle has a file outside of its folder: ${name}`)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    // Zip archives of other systems have no modes; a binary server must be executable.
    await writeFile(path, bytes, { mode: 0o700 })
  }
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
