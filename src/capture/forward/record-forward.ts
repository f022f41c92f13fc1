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
import { ServerGates } from './server-gates.js'
import { createServerTapes, type ServerFiles } from './server-tapes.js'
import { upstreamProxiesOf } from './upstream-proxies.js'

/** The client to start or to wait for, and the hosts to record. */
export interface ForwardCaptureOptions extends Omit<CaptureOptions, 'label'> {
  /** Label of all tapes; by default each is named after its server's host. */
  readonly label?: string
  /** The client's argv; `[]` waits for clients until a signal. */
  readonly command: readonly string[]
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Access control of the proxy. */
  readonly access: Access
  /** Folder of the certificate authority. */
  readonly caFolder: string
  readonly insecure: boolean
  /** Only these are inspected; all if empty. */
  readonly only: readonly HostPattern[]
  readonly skip: readonly HostPattern[]
  /** The client's environment. */
  readonly env: Environment
  /** Called with the client's variables once clients can connect. The client is started only after it resolves. */
  onListening(variables: Readonly<Record<string, string>>): Promise<void>
  /** Information for the user, in one line. */
  onNotice(line: string): Promise<void>
}

/** The traffic beyond the recordings. */
export interface TrafficReport {
  /** Number of inspected requests, by origin. */
  readonly requests: ReadonlyMap<string, number>
  /** Destinations that were only tunnelled, with the reason. */
  readonly tunnels: ReadonlyMap<string, TunnelReason>
  /** Servers without a tape. */
  readonly unrecorded: readonly string[]
  /** Why the last of them has none, unless because of their number. */
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

/** Clients that trust it are not recorded either: the client is unknown until its connection is accepted. */
const pinnedNote =
  'a client does not trust the certificate of wiretape: connections to this server are no longer recorded'
/** Number of destinations and servers that are remembered. */
const mostRemembered = 1_000
/** Time for the last messages of a client that has exited; its remaining children are not waited for. */
const lastWordsMs = 2_000

/**
 * Forwards between a client and all its servers, until the client has exited or a signal comes.
 *
 * @throws WiretapeError before anything is started: `usage`, `unwritable`, `unreadable`
 */
export async function recordForward(options: ForwardCaptureOptions): Promise<ForwardResult> {
  const { insecure, only } = options
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
  const gates: ServerGates = new ServerGates({
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
    // Reading hundreds of certificates takes time, and plain HTTP needs none.
    get secureContext() {
      return (trust ??= trustOf(roots))
    },
    proxyFor: (target) => proxies.for(target),
    certificateFor: (name) => leaves.of(name),
    tunnelled: (place) => (isSkipped(place, options) ? 'skipped' : undefined),
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
    const trouble = tapes.trouble === undefined ? {} : { trouble: wordsOf(tapes.trouble) }
    return { ...outcome, servers, traffic: { requests: sorter.requests, tunnels, unrecorded, ...trouble } }
  } finally {
    await proxy.close()
    tapes.close()
  }
}

/** A client that cannot be recorded should not be started. */
function checkFolder(folder: string): void {
  try {
    makeFolder(folder, realDisk)
  } catch (cause) {
    throw new WiretapeError('unwritable', `cannot make the folder ${folder}: ${diskReason(cause)}`, { cause })
  }
}

function isSkipped(place: Parameters<typeof matchesHost>[1], { only, skip }: ForwardCaptureOptions): boolean {
  const matches = (pattern: HostPattern): boolean => matchesHost(pattern, place)
  return skip.some(matches) || (only.length > 0 && !only.some(matches))
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
