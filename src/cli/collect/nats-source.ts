import type { Consumer, ConsumerInfo, JsMsg } from '@nats-io/jetstream'
import { WiretapeError } from '../../model/index.js'
import { loadNats, natsFailure, openStore, sealedStream, type JetStreamStore } from '../../ship/index.js'
import type { Delivery, SegmentSource } from './source.js'

const durable = 'wiretape-collector'
/** A delivery without a progress signal for this long goes to another collector. */
const ackWaitMs = 30_000
/** A fetch may exceed its time by this much. */
const lateMs = 5_000
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
    const { manager } = store
    await store.ensureStream()
    const info = await consumerOf(store, {
      ack_policy: jetstream.AckPolicy.Explicit,
      ack_wait: transport.nanos(ackWaitMs),
    })
    const consumer = await store.jetstream.consumers.get(sealedStream.name, durable)
    return {
      store,
      isQueue: true,
      workingMs: (info.config.ack_wait ?? transport.nanos(ackWaitMs)) / 1e6 / 3,
      async next(most, waitMs) {
        return fetchDeliveries(consumer, most, Math.max(1_000, waitMs)).catch((cause: unknown) => {
          throw natsFailure(cause, `${store.address}: cannot fetch deliveries`)
        })
      },
      async waiting() {
        const { num_pending, num_ack_pending } = await manager.consumers.info(sealedStream.name, durable)
        return num_pending + num_ack_pending
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
async function fetchDeliveries(consumer: Consumer, most: number, waitMs: number): Promise<Delivery[]> {
  const deliveries: Delivery[] = []
  const messages = await consumer.fetch({ max_messages: most, expires: waitMs })
  const timer = setTimeout(() => messages.stop(), waitMs + lateMs)
  try {
    for await (const message of messages) deliveries.push(deliveryOf(message))
  } catch (cause) {
    if (deliveries.length === 0) throw cause
  } finally {
    clearTimeout(timer)
  }
  return deliveries
}

/** An existing consumer keeps its settings. */
async function consumerOf(
  { manager }: JetStreamStore,
  settings: { readonly ack_policy: 'explicit'; readonly ack_wait: number },
): Promise<ConsumerInfo> {
  try {
    return await manager.consumers.info(sealedStream.name, durable)
  } catch {
    return manager.consumers.add(sealedStream.name, {
      ...settings,
      durable_name: durable,
      max_ack_pending: mostPending,
    })
  }
}

function deliveryOf(message: JsMsg): Delivery {
  return {
    manifest: message.data,
    attempt: message.info.deliveryCount,
    async done() {
      // Confirmed by the server; without confirmation it is redelivered, which is harmless.
      await message.ackAck().catch(() => undefined)
    },
    again: (afterMs) => message.nak(afterMs),
    working: () => message.working(),
  }
}
