import { protocolVersion, type ServerEvent, type ServerHello } from '../control-schema/index.js'
import { encodeRecord, inBatches } from '../formats/index.js'
import { WiretapeError, type MetaRecord } from '../model/index.js'
import type { CaptureLink } from '../tui/index.js'
import type { Io } from './io.js'
import { openMerged } from './transfer.js'
import { readVersion } from './version.js'

/**
 * Presents recordings as an ended capture for a screen; several are merged by time.
 *
 * @throws WiretapeError if a file cannot be read or is no recording
 */
export async function openSaved(names: readonly string[], io: Io): Promise<CaptureLink> {
  const { recording, close } = await openMerged(names, io)
  let meta: MetaRecord | undefined
  for await (const record of recording.records()) {
    if (record.type === 'meta') meta = record
    break
  }
  let isClosed = false
  async function* events(): AsyncGenerator<ServerEvent, void, undefined> {
    const problems: string[] = []
    for await (const records of inBatches(recording.records(({ message }) => problems.push(message)))) {
      if (isClosed) return
      for (const record of records) yield { type: 'record', line: encodeRecord(record) }
    }
    yield { type: 'live' }
    yield { type: 'ended' }
    const [first] = problems
    if (first !== undefined) yield { type: 'notice', message: first }
  }
  return {
    hello: helloOf(meta, names),
    events: events(),
    send: ({ type }) =>
      type === 'subscribe'
        ? Promise.resolve({})
        : Promise.reject(new WiretapeError('no-capture', 'the capture has ended: nothing can be sent')),
    close() {
      isClosed = true
      void close()
    },
  }
}

export function helloOf(meta: MetaRecord | undefined, names: readonly string[]): ServerHello {
  const { session = '', transport = 'stdio', url = null } = meta?.wiretape ?? {}
  return {
    type: 'hello',
    protocol: protocolVersion,
    wiretape: readVersion(),
    session,
    label: meta?.label || names[0]!,
    pid: process.pid,
    transport,
    startedAt: meta?.startedAt ?? '',
    command: [...(meta?.command ?? [])],
    url,
    listening: null,
    tape: names[0]!,
    sessionFile: '',
  }
}
