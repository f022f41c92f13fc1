import { ownMetric, type OwnMetric } from '../formats/index.js'
import type { ShipReport, Waiting } from '../ship/index.js'

const nothing = { shipped: 0, shippedBytes: 0, sentBytes: 0, refusals: 0 }

/** A shipper's work since its start, and its backlog. */
export class ShipperMetrics {
  #shipped = 0
  #bytes = 0
  #sent = 0
  #refusals = 0
  #failures = 0
  #reportNow: (() => ShipReport) | undefined

  /** A pass began. */
  begin(reportNow: () => ShipReport): void {
    this.#reportNow = reportNow
  }

  /** A pass ended. */
  add(report: ShipReport): void {
    this.#reportNow = undefined
    this.#shipped += report.shipped
    this.#bytes += report.shippedBytes
    this.#sent += report.sentBytes
    this.#refusals += report.refusals
    this.#failures += report.trouble && report.trouble.code !== 'refused' ? 1 : 0
  }

  /** See docs/telemetry.md. @param find finds the waiting segments while no pass runs */
  async read(find: () => Promise<Waiting>): Promise<OwnMetric[]> {
    const now = this.#reportNow?.()
    const { waiting, waitingBytes, oldestWaiting } = now ?? (await find())
    const { shipped, shippedBytes, sentBytes, refusals } = now ?? nothing
    const lagMs = oldestWaiting === null ? 0 : Math.max(0, Date.now() - Date.parse(oldestWaiting))
    return [
      ownMetric(
        'sum',
        'shipper.segments',
        '{segment}',
        'Segments accepted by the store.',
        this.#shipped + shipped,
      ),
      ownMetric(
        'sum',
        'shipper.bytes',
        'By',
        'Uncompressed bytes of accepted segments.',
        this.#bytes + shippedBytes,
      ),
      ownMetric('sum', 'shipper.sent', 'By', 'Bytes of accepted segments, as sent.', this.#sent + sentBytes),
      ownMetric(
        'sum',
        'shipper.refusals',
        '{segment}',
        'Segments rejected by the store.',
        this.#refusals + refusals,
      ),
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
