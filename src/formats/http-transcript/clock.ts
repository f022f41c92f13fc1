/**
 * Milliseconds since the epoch that never decrease: readers sort by them before they match requests and
 * responses, so a clock that was set back would separate them.
 */
export function createClock(): (t: string | undefined) => number {
  let latest = 0
  return (t) => {
    const milliseconds = Date.parse(t ?? '')
    if (milliseconds > latest) latest = milliseconds
    return latest
  }
}
