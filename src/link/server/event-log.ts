/** An event that a client may ask for again. */
export interface LoggedEvent {
  /** Unique in its stream, growing. */
  readonly number: number
  readonly text: string
  /** It had to make room. */
  onForgotten(): void
}

/** What was said on the event streams of all sessions: the newest, so that streams that break can be taken up again. */
export interface EventLog {
  keep(event: LoggedEvent): void
  forget(event: LoggedEvent): void
}

/** @param maxSize of all texts together, in characters */
export function createEventLog(maxSize: number, maxEvents: number): EventLog {
  const events = new Set<LoggedEvent>()
  let size = 0

  function forget(event: LoggedEvent): void {
    if (events.delete(event)) size -= event.text.length
  }
  return {
    keep(event) {
      events.add(event)
      size += event.text.length
      for (const oldest of events) {
        if (size <= maxSize && events.size <= maxEvents) break
        forget(oldest)
        oldest.onForgotten()
      }
    },
    forget,
  }
}
