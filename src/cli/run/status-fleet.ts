import { policyInForce } from '../../capture/index.js'
import { WiretapeError } from '../../model/index.js'
import { createStyle, escapeJson, escapeText, formatBytes } from '../../render/index.js'
import { openStore, readFleet, type FleetHost } from '../../ship/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { tableText } from '../table.js'

export interface FleetStatusOptions {
  readonly at?: string
  readonly json?: boolean
}

/** A shipper without reports for this long may be gone. */
const silentMs = 300_000

/** A clock of a host that differs by less is not reported. */
const aheadMs = 60_000

/** Content of a store by host. */
export async function runStatusFleet({ at, json }: FleetStatusOptions, io: Io): Promise<number> {
  const inForce = at === undefined ? await policyInForce() : undefined
  if (inForce?.kind === 'broken')
    throw new WiretapeError('unreadable', inForce.why, {
      hint: 'or name a store with --at s3://bucket/prefix',
    })
  const policy = inForce?.kind === 'policy' ? inForce.policy : undefined
  const address = at ?? policy?.shipTo?.value
  if (address === undefined) {
    throw new WiretapeError('usage', 'a store is needed', { hint: 'name it with --at s3://bucket/prefix' })
  }
  const store = await openStore(address, process.env, policy?.nats?.value)
  try {
    const hosts = await readFleet(store)
    const nowMs = Date.now()
    if (json) {
      const rows = hosts.map((host) => ({ ...host, lagMs: lagOf(host, nowMs) }))
      await io.write(
        `${escapeJson(JSON.stringify({ version: 1, store: store.address, hosts: rows }, null, 2))}\n`,
        'data',
      )
    } else await io.write(told(hosts, store.address, nowMs, io))
    return exitCode.done
  } finally {
    await store.close().catch(() => undefined)
  }
}

/** Waiting time of the oldest sealed segment not in the store; 0 without any, null if unknown. */
function lagOf({ shipper }: FleetHost, nowMs: number): number | null {
  if (shipper === null) return null
  if (shipper.oldestWaiting === null) return 0
  // Both times of a host are by its own clock, which may be ahead.
  return Math.max(0, Math.max(nowMs, Date.parse(shipper.at)) - Date.parse(shipper.oldestWaiting))
}

function told(hosts: readonly FleetHost[], address: string, nowMs: number, io: Io): string {
  if (hosts.length === 0) return `Nothing was shipped to ${escapeText(address)} yet.\n`
  const style = createStyle(io.colours)
  const column = (
    name: string,
    textOf: (host: FleetHost) => string,
    side: 'left' | 'right',
    keep?: number,
  ): Parameters<typeof tableText>[0][number] => ({
    name,
    texts: hosts.map((host) => escapeText(textOf(host))),
    side,
    ...(keep !== undefined && { keep }),
  })
  return tableText(
    [
      column('host', ({ host }) => host, 'right'),
      column('user', ({ user }) => user, 'right', 4),
      column('last segment (UTC)', ({ lastSegment }) => shownTime(lastSegment), 'right', 5),
      column('lag', (host) => shownLag(host, nowMs), 'left'),
      column('sessions', ({ sessions }) => String(sessions), 'left', 2),
      column('segments', ({ segments }) => String(segments), 'left', 1),
      column('bytes', ({ bytes }) => formatBytes(bytes), 'left', 6),
      column('gaps', ({ gaps }) => String(gaps), 'left'),
      column('refusals', ({ shipper }) => String(shipper?.refusals ?? '?'), 'left'),
      column('trouble', (host) => troubleOf(host, nowMs), 'right'),
    ],
    { style, columns: io.columns },
  )
}

function shownTime(time: string | null): string {
  return time === null ? '' : time.slice(0, 19).replace('T', ' ')
}

function shownLag(host: FleetHost, nowMs: number): string {
  const lagMs = lagOf(host, nowMs)
  return lagMs === null ? '?' : shownSpan(lagMs)
}

function shownSpan(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds}s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)}m` : `${Math.round(seconds / 3_600)}h`
}

function troubleOf({ shipper }: FleetHost, nowMs: number): string {
  if (shipper === null) return ''
  if (shipper.trouble !== null) return shipper.trouble
  const agoMs = nowMs - Date.parse(shipper.at)
  if (agoMs < -aheadMs) return `its clock is ${shownSpan(-agoMs)} ahead`
  return agoMs > silentMs ? `silent since ${shownTime(shipper.at)}` : ''
}
