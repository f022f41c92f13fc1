import type { HttpLanes } from '../../intercept/index.js'
import type { SeenServer } from '../../proxy/index.js'
import { targetOfUrl, type HttpEvent, type ArrivalTime } from '../../transports/index.js'
import type { CaptureFiles } from '../capture-options.js'
import type { CaptureTarget, RunningCapture } from '../capture-options.js'

/** What came of one server's tape. */
export interface ServerFiles extends CaptureFiles {
  readonly origin: string
}

/** Tapes, one a server. */
export interface ServerTapes {
  readonly count: number
  /**
   * Makes a server's tape. What it gives back takes the events of its exchanges; undefined when there can be none.
   *
   * @param since when the first of them began
   */
  open(server: SeenServer, since: ArrivalTime): ((event: HttpEvent) => void) | undefined
  /** From now on nothing of what goes to a place is seen: its tape says so. @param place `host:port` */
  unseen(place: string, why: string): void
  /** Why a tape could not be made. */
  readonly trouble: unknown
  /** What is held does not keep the run. */
  ends(): void
  finish(): Promise<ServerFiles[]>
  /** Gives up what is not a file; can be called at any time, and twice. */
  close(): void
}

/** Each has a thread of its own. */
const mostTapes = 64

export interface ServerTapesOptions {
  start(target: CaptureTarget, since: ArrivalTime): RunningCapture
  /** Of all tapes; else each is called by its host. */
  readonly label: string | undefined
  /** The proxy as far as it is about one server. */
  lanesOf(server: SeenServer): HttpLanes
  /** Stops all traffic, or lets it go on. */
  hold(wait: boolean): void
  /** Somebody who attached to a tape wants the run to end. */
  stop(): void
}

export function createServerTapes(options: ServerTapesOptions): ServerTapes {
  const { label } = options
  const tapes = new Map<SeenServer, RunningCapture>()
  const notes = new Map<string, (text: string) => void>()
  /** Tapes that everybody waits for. */
  const slow = new Set<SeenServer>()
  let trouble: unknown

  function wait(server: SeenServer, waits: boolean): void {
    if (waits) slow.add(server)
    else slow.delete(server)
    options.hold(slow.size > 0)
  }

  function open(server: SeenServer, since: ArrivalTime): ((event: HttpEvent) => void) | undefined {
    if (tapes.size >= mostTapes) return undefined
    let capture: RunningCapture
    const { origin, url, transport } = server
    try {
      capture = options.start({ transport, command: [], url: url.href, label: label ?? url.hostname }, since)
    } catch (error) {
      trouble = error
      return undefined
    }
    tapes.set(server, capture)
    const recorder = capture.record((waits) => wait(server, waits))
    capture.register()
    notes.set(targetOfUrl(new URL(origin))?.name ?? origin, (text) => recorder.enter({ kind: 'note', text }))
    // Nobody goes on before the thread is there to record it.
    wait(server, true)
    capture.live.connect({
      stop: () => options.stop(),
      makeWire: ({ createHttpWire }, intercept, ledger) =>
        createHttpWire(options.lanesOf(server), intercept, ledger, transport),
    })
    void recorder.ready.then(() => {
      wait(server, false)
      return capture.live.listen()
    })
    return (event) => recorder.http(placed(event, origin, since))
  }

  return {
    get count() {
      return tapes.size
    },
    get trouble() {
      return trouble
    },
    open,
    unseen: (place, why) => notes.get(place)?.(why),
    ends() {
      for (const { live } of tapes.values()) live.intercept?.ends()
    },
    finish: () =>
      Promise.all(
        [...tapes].map(async ([{ origin }, capture]) => ({
          origin,
          ...(await capture.finish({ exitCode: 0 })),
        })),
      ),
    close() {
      for (const capture of tapes.values()) capture.close()
    },
  }
}

/** As the tape of one server tells it: what went elsewhere (OAuth) says where, and nothing is older than the tape. */
function placed(event: HttpEvent, own: string, since: ArrivalTime): HttpEvent {
  const { atMs, wallMs } = event.atMs < since.atMs ? since : event
  if (event.kind !== 'request') return { ...event, atMs, wallMs }
  const { origin = own, path } = event
  return { ...event, atMs, wallMs, path: origin === own ? path : origin + path }
}
