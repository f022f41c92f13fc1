/** An event that a client may request again. */
export interface LoggedEvent {
  /** Unique in its stream, ascending. */
  readonly number: number
  readonly text: string
  /** The event was dropped to make room. */
  onForgotten(): void
}

/** The newest events of all sessions, so that broken streams can be resumed. */
export interface EventLog {
  keep(event: LoggedEvent): void
  forget(event: LoggedEvent): void
}

/** @param maxSize limit for all texts together, in characters */
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
