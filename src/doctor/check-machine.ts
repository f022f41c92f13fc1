import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { findClients, launcherPath, readWrapping, type Places } from '../clients/index.js'
import { formatBytes } from '../render/index.js'
import { failed, note, ok, wordsOf, type Step } from './step.js'

export interface MachineCheck {
  readonly dataFolder: string
  readonly places: Places
}

/** A busy recorder fills this much in an hour. */
const littleSpace = 1e9

/** Checks Node, our folders, the disk and client configurations. */
export async function* checkMachine({ dataFolder, places }: MachineCheck): AsyncGenerator<Step> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isNew = major > 20 || (major === 20 && minor >= 19)
  yield isNew
    ? ok('Node', process.versions.node)
    : failed('Node', process.versions.node, 'wiretape needs Node 20.19 or newer')
  yield* checkFolder(dataFolder)
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'].filter(
    (name) => (process.env[name] ?? '') !== '',
  )
  if (variables.length > 0) yield note('environment', `set: ${variables.join(', ')}`)
  const clients = await findClients(places)
  let recorded = 0
  for (const { client, files, managedBy } of clients) {
    if (managedBy !== undefined) yield note(client.name, `${managedBy} controls which servers run`)
    for (const { place, fault, servers } of files) {
      if (fault !== undefined)
        yield failed(
          client.name,
          `${place.path}: ${fault}`,
          'correct the file: its client ignores it or fails',
        )
      for (const { name, launch } of servers) {
        const wrapping = readWrapping(launch)
        if (wrapping === 'damaged')
          yield failed(
            client.name,
            `${name} in ${place.path}: its arguments no longer contain the original command`,
            'wiretape uninstall shows the original command',
          )
        else if (wrapping) recorded += 1
      }
    }
    const withServers = files.filter(({ place, servers }) => place.scope === 'user' && servers.length > 0)
    if (client.id === 'claude-desktop' && withServers.length > 1)
      yield note(
        client.name,
        `${withServers.length} configuration files: ${withServers.map(({ place }) => place.path).join(', ')}`,
        'the client reads only one of them',
      )
  }
  yield ok('clients', `${clients.length} found, ${recorded} servers recorded`)
  if (recorded > 0) yield await checkLauncher(dataFolder)
}

async function* checkFolder(dataFolder: string): AsyncGenerator<Step> {
  const info = await stat(dataFolder).catch(() => undefined)
  if (!info) {
    yield note('data folder', `${dataFolder} does not exist yet; the first recording creates it`)
    return
  }
  try {
    await access(dataFolder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    yield failed('data folder', wordsOf(error), `make yourself the owner of ${dataFolder}`)
    return
  }
  const isOpen = process.platform !== 'win32' && (info.mode & 0o077) !== 0
  yield isOpen
    ? failed(
        'data folder',
        `${dataFolder} is open to other users (mode ${(info.mode & 0o777).toString(8)})`,
        `chmod 700 ${dataFolder}`,
      )
    : ok('data folder', dataFolder)
  const space = await statfs(dataFolder)
  const free = space.bavail * space.bsize
  yield free < littleSpace
    ? failed('disk', `${formatBytes(free)} free`, 'free some space: a full disk leaves gaps in recordings')
    : ok('disk', `${formatBytes(free)} free`)
}

async function checkLauncher(dataFolder: string): Promise<Step> {
  const path = launcherPath({ dataFolder, platform: process.platform })
  const advice = 'run wiretape install again: it rewrites the launcher'
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined)
    return failed('launcher', `${path} is missing: installed servers cannot start`, advice)
  const program = /^(?:program=|set "program=)'?([^'"\n]+)/m.exec(text)?.[1] ?? ''
  const isThere = await access(program).then(
    () => true,
    () => false,
  )
  return isThere
    ? ok('launcher', path)
    : failed('launcher', `${program} is gone: installed servers run unrecorded`, advice)
}
