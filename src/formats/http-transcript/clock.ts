/**
 * Milliseconds since the epoch that never go back: readers sort by them before they pair requests with
 * answers, so a clock that was set back would tear pairs apart.
 */
export function createClock(): (t: string | undefined) => number {
  let latest = 0
  return (t) => {
    const milliseconds = Date.parse(t ?? '')
    if (milliseconds > latest) latest = milliseconds
    return latest
  }
}
