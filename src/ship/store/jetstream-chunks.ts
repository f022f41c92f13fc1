import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { ObjectInfo } from '@nats-io/obj'
import { createHash } from 'node:crypto'
import { WiretapeError } from '../../model/index.js'

type Named = Pick<ObjectInfo, 'bucket' | 'nuid' | 'name'>
type Chunked = Pick<ObjectInfo, 'bucket' | 'nuid' | 'chunks' | 'digest'>

/**
 * Reads the chunks of an object, one request each. The client's own `get` uses a consumer, which never ends if the cluster
 * places it on a replica without the chunks (after a node's restart or an upload that failed half-way).
 *
 * @throws WiretapeError `unreadable` when a chunk is missing or damaged, or errors of the NATS client
 */
export async function* readChunks(manager: JetStreamManager, object: Chunked): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256')
  let after = 0
  for (let number = 0; number < object.chunks; number += 1) {
    const chunk = await nextChunk(manager, object, after)
    if (!chunk)
      throw new WiretapeError(
        'unreadable',
        `chunk ${number + 1} of ${object.chunks} is missing in the Object Store`,
      )
    after = chunk.seq
    digest.update(chunk.data)
    yield chunk.data
  }
  const said = object.digest.replace(/^SHA-256=/i, '').replace(/=+$/, '')
  if (digest.digest('base64url') !== said)
    throw new WiretapeError('unreadable', 'its bytes do not match the digest in the Object Store')
}

/** Whether all chunks exist. A writer that missed the server's response removes them, but not the object's entry. */
export async function hasAllChunks(manager: JetStreamManager, object: Chunked): Promise<boolean> {
  const subject = chunkSubject(object)
  const { state } = await manager.streams.info(streamOf(object), { subjects_filter: subject })
  return (state.subjects?.[subject] ?? 0) === object.chunks
}

/** Removes an object completely. The client's own `delete` leaves one message per object forever. */
export async function removeObject(manager: JetStreamManager, object: Named): Promise<void> {
  const name = Buffer.from(object.name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  // The entry last: an object without its chunks counts as absent, chunks without an entry would stay.
  if (object.nuid !== '') await manager.streams.purge(streamOf(object), { filter: chunkSubject(object) })
  await manager.streams.purge(streamOf(object), { filter: `$O.${object.bucket}.M.${name}` })
}

/**
 * The objects of a bucket with the time at which the server stored them. The client's own list has the clocks of the writers.
 */
export async function* objectEntries(
  jetstream: JetStreamClient,
  bucket: string,
): AsyncGenerator<{ readonly name: string; readonly storedAt: Date }> {
  const consumer = await jetstream.consumers.get(streamOf({ bucket }), {
    filter_subjects: `$O.${bucket}.M.>`,
    deliver_policy: 'last_per_subject',
  })
  if ((await consumer.info()).num_pending === 0) return
  for (let count = -1; count !== 0;) {
    count = 0
    for await (const message of await consumer.fetch({ max_messages: listedAtOnce, expires: listWaitMs })) {
      count += 1
      const { name, deleted } = message.json<ObjectInfo>()
      if (!deleted) yield { name, storedAt: message.time }
      if (message.info.pending === 0) return
    }
  }
}
const listedAtOnce = 1_000
/** Objects that were deleted since the count never arrive. */
const listWaitMs = 2_000

/** Reads from any replica, then from the leader, since replicas may lag. */
async function nextChunk(
  manager: JetStreamManager,
  object: Chunked,
  after: number,
): Promise<{ readonly seq: number; readonly data: Uint8Array } | null> {
  const query = { seq: after + 1, next_by_subj: chunkSubject(object) }
  const near = await manager.direct.getMessage(streamOf(object), query).catch(() => null)
  return near ?? manager.streams.getMessage(streamOf(object), query)
}

function streamOf({ bucket }: Pick<ObjectInfo, 'bucket'>): string {
  return `OBJ_${bucket}`
}

function chunkSubject({ bucket, nuid }: Pick<ObjectInfo, 'bucket' | 'nuid'>): string {
  return `$O.${bucket}.C.${nuid}`
}
