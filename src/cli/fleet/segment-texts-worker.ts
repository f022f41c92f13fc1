import { workerData, type MessagePort } from 'node:worker_threads'
import { openStore, type ObjectStore } from '../../ship/index.js'
import { SegmentReader } from './segment-reader.js'
import { beatMs, type SegmentTextAnswer } from './segment-texts.js'

const { address, wake, port } = workerData as {
  readonly address: string
  readonly wake: Int32Array
  readonly port: MessagePort
}
setInterval(() => Atomics.add(wake, 1, 1), beatMs)

let opened: Promise<SegmentReader> | undefined

port.on('message', (asked: { readonly segment: string; readonly start: number; readonly end: number }) => {
  void answer(asked).then((message) => {
    port.postMessage(message)
    Atomics.store(wake, 0, 1)
    Atomics.notify(wake, 0)
  })
})

async function answer({
  segment,
  start,
  end,
}: {
  readonly segment: string
  readonly start: number
  readonly end: number
}): Promise<SegmentTextAnswer> {
  try {
    opened ??= openStore(address, process.env).then((store: ObjectStore) => new SegmentReader(store))
    const bytes = await (await opened).bytes(segment, start, end)
    return { text: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}
