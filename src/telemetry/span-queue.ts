/** An encoded span waiting to be sent, with its owner. */
export interface Queued<Owner> {
  readonly owner: Owner
  readonly bytes: Uint8Array
}

/** Bytes of waiting spans, and of one request: many receivers accept 4 MB. */
const mostQueuedBytes = 32 * 1024 * 1024
const mostRequestBytes = 2 * 1024 * 1024

/** Spans in order, limited by number and bytes. */
export interface SpanQueue<Owner> {
  readonly size: number
  readonly sizeBytes: number
  /** False when the queue is full: the span is left out. */
  add(span: Queued<Owner>): boolean
  /** The oldest spans of one owner that fit into a request. */
  take(most: number): { readonly owner: Owner; readonly spans: readonly Uint8Array[] } | undefined
  /** There are enough spans for a full request. */
  isDue(most: number): boolean
}

export function createSpanQueue<Owner>(mostQueued: number): SpanQueue<Owner> {
  let waiting: Queued<Owner>[] = []
  /** Index of the first waiting span; earlier ones were taken. */
  let first = 0
  let sizeBytes = 0

  return {
    get size() {
      return waiting.length - first
    },
    get sizeBytes() {
      return sizeBytes
    },
    add(span) {
      if (waiting.length - first >= mostQueued || sizeBytes + span.bytes.length > mostQueuedBytes)
        return false
      waiting.push(span)
      sizeBytes += span.bytes.length
      return true
    },
    take(most) {
      const start = waiting[first]
      if (!start) return undefined
      const spans: Uint8Array[] = []
      let bytes = 0
      for (
        let next: Queued<Owner> | undefined = start;
        next && next.owner === start.owner;
        next = waiting[first]
      ) {
        if (spans.length >= most || (spans.length > 0 && bytes + next.bytes.length > mostRequestBytes)) break
        spans.push(next.bytes)
        bytes += next.bytes.length
        first += 1
      }
      sizeBytes -= bytes
      if (first > waiting.length / 2) {
        waiting = waiting.slice(first)
        first = 0
      }
      return { owner: start.owner, spans }
    },
    isDue: (most) => waiting.length - first >= most || sizeBytes >= mostRequestBytes,
  }
}
