/** Durations in bounded memory: exact for the first thousands, then within half a percent. */
export interface Durations {
  add(us: number): void
  /** The smallest duration that this share of all does not exceed; undefined without any. */
  quantile(share: number): number | undefined
  readonly slowestUs: number | undefined
}

const exactly = 4096
const step = Math.log(1.005)

export function createDurations(): Durations {
  let exact: number[] = []
  /** Count per bucket, by the logarithm of the microseconds. */
  let buckets: Float64Array | undefined
  let count = 0
  let slowestUs: number | undefined

  function toBucket(us: number): void {
    const bucket = us < 1 ? 0 : 1 + Math.round(Math.log(us) / step)
    if (bucket >= buckets!.length) {
      const more = new Float64Array(bucket + 256)
      more.set(buckets!)
      buckets = more
    }
    buckets![bucket]! += 1
  }

  return {
    get slowestUs() {
      return slowestUs
    },
    add(us) {
      count += 1
      slowestUs = Math.max(slowestUs ?? 0, us)
      if (buckets) return toBucket(us)
      exact.push(us)
      if (exact.length < exactly) return
      buckets = new Float64Array(4096)
      exact.forEach(toBucket)
      exact = []
    },
    quantile(share) {
      if (count === 0) return undefined
      const place = Math.max(1, Math.ceil(share * count))
      if (!buckets) return exact.toSorted((a, b) => a - b)[place - 1]
      let seen = 0
      for (const [bucket, many] of buckets.entries()) {
        seen += many
        if (seen >= place) return bucket === 0 ? 0 : Math.min(Math.exp((bucket - 1) * step), slowestUs!)
      }
      return slowestUs
    },
  }
}
