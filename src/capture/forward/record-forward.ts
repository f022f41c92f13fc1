import { WiretapeError } from '../../model/index.js'
import { createTrafficSorter, type TrafficSorter } from '../../proxy/index.js'
import { diskReason, makeFolder, realDisk } from '../../tape/index.js'
import {
  isForegroundGroup,
  matchesHost,
  startClient,
  startForwardProxy,
  type Access,
  type ClientProcess,
  type ForwardProxy,
  type HostPattern,
  type TunnelReason,
} from '../../transports/index.js'
import { createReadBuffers } from '../read-buffers.js'
import { prepareCapture } from '../running-capture.js'
import type { CaptureOptions } from '../capture-options.js'
import { forwardSignals, untilSignal } from '../signals.js'
import { createLeafCertificates } from '../trust/certificates.js'
import { authorityFolder, openLocalCa, type LocalCa } from '../trust/local-ca.js'
import { readTrustedRoots, trustOf, writeBundle, type TrustedRoots } from '../trust/trusted-roots.js'
import { clientEnvironment, type Environment } from './client-environment.js'
import { quietNodeOptions } from './quiet-node.js'
import { createServerGates, type ServerGates } from './server-gates.js'
import { createServerTapes, type ServerFiles } from './server-tapes.js'
import { upstreamProxiesOf } from './upstream-proxies.js'

/** Whom to start or wait for, and what to look at. */
export interface ForwardCaptureOptions extends Omit<CaptureOptions, 'label'> {
  /** Of all tapes; else each is called by the host of its server. */
  readonly label?: string
  /** The client's argv; `[]` waits for clients until a signal comes. */
  readonly command: readonly string[]
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Who may use it. */
  readonly access: Access
  /** Folder of the certificate authority. */
  readonly caFolder: string
  readonly insecure: boolean
  /** Only these are looked at; all when there are none. */
  readonly only: readonly HostPattern[]
  readonly skip: readonly HostPattern[]
  /** The client's. */
  readonly env: Environment
  /** Called once clients can connect, with what they have to be told. Nothing is started before it is done. */
  onListening(variables: Readonly<Record<string, string>>): Promise<void>
  /** Something the user should know, in one line. */
  onNotice(line: string): Promise<void>
}

/** What passed besides what was recorded. */
export interface TrafficReport {
  /** How many requests were looked at, by origin. */
  readonly requests: ReadonlyMap<string, number>
  /** Places that were only tunnelled to, and why. */
  readonly tunnels: ReadonlyMap<string, TunnelReason>
  /** Servers that have no tape. */
  readonly unrecorded: readonly string[]
  /** Why the last of them has none, where it was not for their number. */
  readonly trouble?: string
}

/** How a capture ended. */
export interface ForwardResult {
  /** The client's status; 0 without a client. */
  readonly exitCode: number
  /** Why the client could not be started. */
  readonly notStarted?: string
  readonly servers: readonly ServerFiles[]
  readonly traffic: TrafficReport
}

/** Others, who believe it, are not seen any more either: whose a connection is, is not known before it is let through. */
const pinnedNote =
  'a client does not trust the certificate of wiretape: connections to this server are no longer recorded'
/** Places and servers that are remembered. */
const mostRemembered = 1_000
/** What a client that is gone has still sent is waited for, but not for the children it left. */
const lastWordsMs = 2_000

/**
 * Stands between a client and all the servers that it speaks to, until the client is gone, or a signal comes.
 *
 * @throws WiretapeError before anything is started: `usage`, `unwritable`, `unreadable`
 */
export async function recordForward(options: ForwardCaptureOptions): Promise<ForwardResult> {
  const { insecure, only, skip } = options
  const hosts = only.map(({ host }) => host)
  const caFolder = authorityFolder(options.caFolder, hosts)
  const prepared = await prepareCapture({ ...options, label: '' })
  checkFolder(options.folder)
  const authority = await openLocalCa(caFolder, hosts)
  if (authority.notice !== undefined) await options.onNotice(authority.notice)
  const proxies = upstreamProxiesOf(options.env)
  for (const trouble of proxies.troubles) await options.onNotice(trouble)
  const roots = readTrustedRoots(options.env)
  const leaves = createLeafCertificates(authority)
  const readBuffers = createReadBuffers()
  const tunnels = new Map<string, TunnelReason>()
  const unrecorded: string[] = []
  let proxy: ForwardProxy | undefined
  const end = { run: (): void => undefined }
  const tapes = createServerTapes({
    start: (target, since) => prepared.start(target, since),
    label: options.label,
    hold: (wait) => proxy?.hold(wait),
    stop: () => end.run(),
    lanesOf: (server) => gates.lanesOf(server),
  })
  const sorter: TrafficSorter = createTrafficSorter({
    open(server, since) {
      const record = tapes.open(server, since)
      if (!record && unrecorded.length < mostRemembered) unrecorded.push(server.origin)
      return record ?? (() => undefined)
    },
  })
  const gates: ServerGates = createServerGates({
    sorter,
    proxy: () => proxy,
    fromStart: options.intercept !== undefined || options.rulesFile !== undefined,
  })
  let trust: ReturnType<typeof trustOf> | undefined
  proxy = await startForwardProxy({
    host: options.host,
    port: options.port,
    access: { onNotice: (line) => void options.onNotice(line), ...options.access },
    insecure,
    ...(prepared.conversationKey !== undefined && { conversationKey: prepared.conversationKey }),
    // Reading some hundred certificates takes its time, and plain HTTP needs none.
    get secureContext() {
      return (trust ??= trustOf(roots))
    },
    proxyFor: (target) => proxies.for(target),
    certificateFor: (name) => leaves.of(name),
    tunnelled(place) {
      const matches = (pattern: HostPattern): boolean => matchesHost(pattern, place)
      return skip.some(matches) || (only.length > 0 && !only.some(matches)) ? 'skipped' : undefined
    },
    gatekeeper: gates.keeper,
    onEvent(event) {
      sorter.event(event)
      if ('bytes' in event) readBuffers.passed(event.bytes.length)
    },
    onTunnel(place, why) {
      if (why === 'pinned' && tunnels.get(place) !== why) tapes.unseen(place, pinnedNote)
      if (tunnels.size < mostRemembered) tunnels.set(place, why)
    },
  })
  try {
    const variables = variablesFor(proxy.url, authority, roots, { ...options, caFolder })
    const outcome =
      options.command.length > 0
        ? await runClient(options, variables, end)
        : await waitForSignal(() => options.onListening(variables), end)
    tapes.ends()
    await proxy.idle(lastWordsMs)
    await proxy.close()
    const servers = await tapes.finish()
    const { trouble } = tapes
    const traffic = { requests: sorter.requests, tunnels, unrecorded }
    return {
      ...outcome,
      servers,
      traffic: { ...traffic, ...(trouble !== undefined && { trouble: wordsOf(trouble) }) },
    }
  } finally {
    await proxy.close()
    tapes.close()
  }
}

/** A client that is recorded nowhere should not be started. */
function checkFolder(folder: string): void {
  try {
    makeFolder(folder, realDisk)
  } catch (cause) {
    throw new WiretapeError('unwritable', `cannot make the folder ${folder}: ${diskReason(cause)}`, { cause })
  }
}

function variablesFor(
  proxy: string,
  authority: LocalCa,
  roots: TrustedRoots,
  { caFolder, env, only }: ForwardCaptureOptions,
): Record<string, string> {
  const { certificate } = authority
  const extraRoots = roots.extra === '' ? authority.path : writeBundle(caFolder, [roots.extra, certificate])
  const allRoots = writeBundle(caFolder, [roots.system, roots.extra, certificate])
  const nodeOptions = quietNodeOptions(caFolder, env['NODE_OPTIONS'])
  return clientEnvironment({ proxy, extraRoots, allRoots, nodeOptions }, env, only)
}

async function runClient(
  options: ForwardCaptureOptions,
  variables: Readonly<Record<string, string>>,
  end: { run: () => void },
): Promise<Pick<ForwardResult, 'exitCode' | 'notStarted'>> {
  const { command, env } = options
  await options.onListening(variables)
  let client: ClientProcess | undefined
  const early: NodeJS.Signals[] = []
  const signals = forwardSignals(isForegroundGroup, (signal) => {
    if (client) client.kill(signal)
    else early.push(signal)
  })
  try {
    const started = await startClient(command, { ...env, ...variables })
    if ('error' in started) return { exitCode: 127, notStarted: started.error }
    client = started
    end.run = () => started.kill('SIGTERM')
    for (const signal of early) client.kill(signal)
    return { exitCode: (await client.exited).exitCode }
  } finally {
    signals.close()
  }
}

async function waitForSignal(
  onListening: () => Promise<void>,
  end: { run: () => void },
): Promise<{ exitCode: number }> {
  const ended = untilSignal()
  end.run = () => ended.end('SIGTERM')
  try {
    await onListening()
    await ended.signal
    return { exitCode: 0 }
  } finally {
    ended.cancel()
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
