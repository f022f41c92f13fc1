import type { HttpLanes } from '../../intercept/index.js'
import type { SeenServer } from '../../proxy/index.js'
import { targetOfUrl, type HttpEvent, type ArrivalTime } from '../../transports/index.js'
import type { CaptureFiles } from '../capture-options.js'
import type { CaptureTarget, RunningCapture } from '../capture-options.js'

/** The files of one server's tape. */
export interface ServerFiles extends CaptureFiles {
  readonly origin: string
}

/** Tapes, one per server. */
export interface ServerTapes {
  readonly count: number
  /**
   * Creates a server's tape. The result takes events of its exchanges; undefined when there can be no tape.
   *
   * @param since start of the first exchange
   */
  open(server: SeenServer, since: ArrivalTime): ((event: HttpEvent) => void) | undefined
  /** Traffic to a destination can no longer be seen, which is noted on its tape. @param place `host:port` */
  unseen(place: string, why: string): void
  /** Why a tape could not be created. */
  readonly trouble: unknown
  /** Held messages no longer delay the end of the run. */
  ends(): void
  finish(): Promise<ServerFiles[]>
  /** Releases everything except files; can be called at any time, and twice. */
  close(): void
}

/** Each tape has its own thread. */
const mostTapes = 64

export interface ServerTapesOptions {
  start(target: CaptureTarget, since: ArrivalTime): RunningCapture
  /** Label of all tapes; by default each is named after its host. */
  readonly label: string | undefined
  /** The part of the proxy that concerns one server. */
  lanesOf(server: SeenServer): HttpLanes
  /** Stops all traffic, or resumes it. */
  hold(wait: boolean): void
  /** A program attached to a tape wants to end the run. */
  stop(): void
}

export function createServerTapes(options: ServerTapesOptions): ServerTapes {
  const { label } = options
  const tapes = new Map<SeenServer, RunningCapture>()
  const notes = new Map<string, (text: string) => void>()
  /** Tapes for which all traffic waits. */
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
    // Traffic waits until the thread is ready to record it.
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

/** An event as seen from one server's tape: paths elsewhere (OAuth) get their origin; no event predates the tape. */
function placed(event: HttpEvent, own: string, since: ArrivalTime): HttpEvent {
  const { atMs, wallMs } = event.atMs < since.atMs ? since : event
  if (event.kind !== 'request') return { ...event, atMs, wallMs }
  const { origin = own, path } = event
  return { ...event, atMs, wallMs, path: origin === own ? path : origin + path }
}
