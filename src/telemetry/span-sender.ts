import { otlpEncoders, type Span } from '../formats/index.js'
import type { Delivery } from './delivery.js'
import type { RecordingSource } from './recording-source.js'
import type { TelemetrySettings } from './settings.js'
import { createSpanQueue } from './span-queue.js'

/** Sends spans in batches, one request at a time. */
export interface SpanSender {
  /** Queues a span, or leaves it out if too many are waiting. */
  add(span: Span, source: RecordingSource): void
  /** Sends waiting spans, from now on without waiting for more. Never rejects. */
  flush(): Promise<void>
}

export function createSpanSender(
  settings: Pick<TelemetrySettings, 'mostQueued' | 'mostInBatch' | 'delayMs'>,
  protocol: keyof typeof otlpEncoders,
  delivery: Delivery,
): SpanSender {
  const { mostInBatch, delayMs } = settings
  const encoder = otlpEncoders[protocol]
  const queue = createSpanQueue<RecordingSource>(settings.mostQueued)
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let isFlushing = false

  function leaveOut(source: RecordingSource, spans: number, why: string): void {
    source.leftOut += spans
    source.why = why
  }

  function schedule(): void {
    if (sending || queue.size === 0) return
    if (isFlushing || queue.isDue(mostInBatch)) send()
    else timer ??= setTimeout(send, delayMs)
  }

  function send(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendNext().finally(() => {
      sending = undefined
      schedule()
    })
  }

  async function sendNext(): Promise<void> {
    const batch = queue.take(mostInBatch)
    if (!batch) return
    const { owner, spans } = batch
    const { resource } = owner.about!
    const result = await delivery.deliver(encoder.spans(resource, spans))
    owner.queued -= spans.length
    if (result.kind === 'left-out') return leaveOut(owner, spans.length, result.why)
    const rejected = Math.min(result.rejected, spans.length)
    owner.sent += spans.length - rejected
    if (rejected > 0) leaveOut(owner, rejected, result.why ?? 'the receiver rejected them')
  }

  return {
    add(span, source) {
      if (!queue.add({ owner: source, bytes: encoder.span(span) }))
        return leaveOut(
          source,
          1,
          delivery.lastTrouble ?? 'spans arrived faster than the receiver accepted them',
        )
      source.queued += 1
      schedule()
    },
    async flush() {
      isFlushing = true
      schedule()
      while (sending) {
        if (timer) send()
        await sending
      }
    },
  }
}
