import type { Consumer, ConsumerInfo, JsMsg, StoredMsg } from '@nats-io/jetstream'
import { WiretapeError } from '../../model/index.js'
import { bytesOf, loadNats, natsFailure, openStore, type JetStreamStore } from '../../ship/index.js'
import type { Delivery, SegmentSource } from './source.js'

const durable = 'wiretape-collector'
/** A delivery without a progress signal for this long goes to another collector. */
const ackWaitMs = 30_000
/** A fetch may exceed its time by this much. */
const lateMs = 5_000
/** Segments without an announcement are looked for at this interval, and at the start. */
const announceAgainMs = 300_000
/** Announcements that wait are repeated at this interval only: each more would be one more delivery of every segment. */
const backlogAgainMs = 6 * 3_600_000
const marginMs = 600_000
/** Listing a bus may never end if its node fails. */
const longestListMs = 120_000
/** Deliveries pending in all collectors together. */
const mostPending = 20_000

/** The durable consumer shared by all collectors. Created if missing. */
export async function openNatsSource(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SegmentSource> {
  const { transport, jetstream } = await loadNats()
  const store = (await openStore(address, env)) as JetStreamStore
  try {
    const { manager, sealed } = store
    await store.ensureStream()
    const info = await consumerOf(store, {
      ack_policy: jetstream.AckPolicy.Explicit,
      ack_wait: transport.nanos(ackWaitMs),
    })
    const consumer = await store.jetstream.consumers.get(sealed.name, durable)
    const announced = repeatedly((signal) => announceMissing(store, signal))
    return {
      store,
      isQueue: true,
      workingMs: (info.config.ack_wait ?? transport.nanos(ackWaitMs)) / 1e6 / 3,
      async next(most, waitMs) {
        announced.perhaps()
        return fetchDeliveries(store, consumer, most, Math.max(1_000, waitMs)).catch((cause: unknown) => {
          throw natsFailure(cause, `${store.address}: cannot fetch deliveries`)
        })
      },
      async waiting() {
        const { num_pending, num_ack_pending } = await manager.consumers.info(sealed.name, durable)
        return num_pending + num_ack_pending || (await announced.now())
      },
      async backlog() {
        const { segments, oldest } = await waitingIn(store)
        return { segments, oldestMs: oldest?.time.getTime() }
      },
      close: () => store.close(),
    }
  } catch (cause) {
    await store.close().catch(() => undefined)
    throw cause instanceof WiretapeError ? cause : natsFailure(cause, `${store.address}: no consumer`)
  }
}

/**
 * A fetch is abandoned when it takes much longer than requested: if its server fails at the wrong moment, it never ends.
 * Messages received before are kept.
 */
async function fetchDeliveries(
  store: JetStreamStore,
  consumer: Consumer,
  most: number,
  waitMs: number,
): Promise<Delivery[]> {
  const deliveries: Delivery[] = []
  const messages = await consumer.fetch({ max_messages: most, expires: waitMs })
  const timer = setTimeout(() => messages.stop(), waitMs + lateMs)
  try {
    for await (const message of messages) deliveries.push(await deliveryOf(store, message))
  } catch (cause) {
    if (deliveries.length === 0) throw cause
  } finally {
    clearTimeout(timer)
  }
  return deliveries
}

/** An existing consumer keeps its settings. */
async function consumerOf(
  { manager, sealed }: JetStreamStore,
  settings: { readonly ack_policy: 'explicit'; readonly ack_wait: number },
): Promise<ConsumerInfo> {
  try {
    return await manager.consumers.info(sealed.name, durable)
  } catch {
    return manager.consumers.add(sealed.name, {
      ...settings,
      durable_name: durable,
      max_ack_pending: mostPending,
    })
  }
}

async function deliveryOf(store: JetStreamStore, message: JsMsg): Promise<Delivery> {
  // The id of an announcement begins with the hash, also if a later version changes the manifest.
  const hash = /^[0-9a-f]{64}(?![^ ])/.exec(message.headers?.get('Nats-Msg-Id') ?? '')?.[0]
  return {
    manifest: await manifestOf(store, message.data),
    ...(hash !== undefined && { hash }),
    attempt: message.info.deliveryCount,
    async done() {
      // Confirmed by the server; without confirmation it is redelivered, which is harmless.
      await message.ackAck().catch(() => undefined)
    },
    again: (afterMs) => message.nak(afterMs),
    working: () => message.working(),
  }
}

/** A manifest that is too large for a message is announced by its key. If it is missing, the announcement is treated as a manifest. */
async function manifestOf(store: JetStreamStore, data: Uint8Array): Promise<Uint8Array> {
  const key =
    data.length > 200
      ? undefined
      : /^\{"v":1,"manifest":"(segments\/[0-9a-f/]+\.json)"\}$/.exec(Buffer.from(data).toString())?.[1]
  return key === undefined ? data : bytesOf(store.get(key)).catch(() => data)
}

/** Announcements that no collector has acknowledged, and the oldest of them: its time is by the server's clock. */
async function waitingIn({
  manager,
  sealed,
}: JetStreamStore): Promise<{ segments: number; oldest?: StoredMsg | null }> {
  const { num_pending, num_ack_pending, ack_floor } = await manager.consumers.info(sealed.name, durable)
  const segments = num_pending + num_ack_pending
  if (segments === 0) return { segments }
  const query = { seq: ack_floor.stream_seq + 1, next_by_subj: sealed.subjects }
  return { segments, oldest: await manager.streams.getMessage(sealed.name, query) }
}

/**
 * Announces segments whose announcement the stream dropped: those that are older than every announcement that is still waiting.
 * Collected segments are no longer in the bucket.
 */
export async function announceMissing(store: JetStreamStore, signal: AbortSignal): Promise<number> {
  const { segments, oldest } = await waitingIn(store)
  const round = Math.floor(Date.now() / (segments === 0 ? announceAgainMs : backlogAgainMs))
  // A manifest is stored shortly before its announcement.
  const before = oldest ? new Date(oldest.time.getTime() - marginMs) : undefined
  return store.announceAgain(before, `again ${round}`, signal)
}

/**
 * Work that runs at most once at a time, and at intervals. Its failures are left to the next time, but `now` rejects if it takes too
 * long: nothing is known then.
 */
export function repeatedly(work: (signal: AbortSignal) => Promise<number>): {
  perhaps(): void
  now(): Promise<number>
} {
  let running: Promise<number> | undefined
  let ranMs = -Infinity
  function now(): Promise<number> {
    running ??= inTime(work).finally(() => {
      running = undefined
      ranMs = performance.now()
    })
    return running
  }
  return {
    perhaps: () => void (performance.now() - ranMs > announceAgainMs && now().catch(() => undefined)),
    now,
  }
}

async function inTime(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController()
  const late = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error))
  })
  const reason = new WiretapeError(
    'unreachable',
    `listing the bus took longer than ${longestListMs / 1_000} s`,
  )
  const timer = setTimeout(() => controller.abort(reason), longestListMs)
  timer.unref()
  try {
    return await Promise.race([work(controller.signal).catch(() => 0), late])
  } finally {
    clearTimeout(timer)
  }
}
