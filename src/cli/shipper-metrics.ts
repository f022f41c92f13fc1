import { ownMetric, type OwnMetric } from '../formats/index.js'
import type { ShipReport } from '../ship/index.js'

/** A shipper's work since its start, and its backlog. */
export class ShipperMetrics {
  #shipped = 0
  #bytes = 0
  #sent = 0
  #refusals = 0
  #failures = 0
  #last: ShipReport | undefined

  add(report: ShipReport): void {
    this.#shipped += report.shipped
    this.#bytes += report.shippedBytes
    this.#sent += report.sentBytes
    this.#refusals += report.refusals
    this.#failures += report.trouble && report.trouble.code !== 'refused' ? 1 : 0
    this.#last = report
  }

  /** See docs/telemetry.md. */
  read(nowMs = Date.now()): OwnMetric[] {
    const { waiting = 0, waitingBytes = 0, oldestWaiting = null } = this.#last ?? {}
    const lagMs = oldestWaiting === null ? 0 : Math.max(0, nowMs - Date.parse(oldestWaiting))
    return [
      ownMetric('sum', 'shipper.segments', '{segment}', 'Segments accepted by the store.', this.#shipped),
      ownMetric('sum', 'shipper.bytes', 'By', 'Uncompressed bytes of accepted segments.', this.#bytes),
      ownMetric('sum', 'shipper.sent', 'By', 'Bytes of accepted segments, as sent.', this.#sent),
      ownMetric('sum', 'shipper.refusals', '{segment}', 'Segments rejected by the store.', this.#refusals),
      ownMetric(
        'sum',
        'shipper.failures',
        '{pass}',
        'Passes without a response from the store.',
        this.#failures,
      ),
      ownMetric(
        'gauge',
        'shipper.waiting',
        '{segment}',
        'Sealed segments that are not in the store yet.',
        waiting,
      ),
      ownMetric(
        'gauge',
        'shipper.waiting_bytes',
        'By',
        'Uncompressed bytes of waiting segments.',
        waitingBytes,
      ),
      ownMetric(
        'gauge',
        'shipper.lag',
        's',
        'Age of the oldest sealed segment that is not in the store yet.',
        lagMs / 1000,
      ),
    ]
  }
}
