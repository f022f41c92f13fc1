// @ts-check
/**
 * The messages of the servers of `bench/http`: one result to each request, and for `bench/stream` `params.events`
 * messages, one every `params.everyMs`, each with the time of its sending. The last message is the result.
 *
 * @typedef {{ id: number, method: string, params: { events: number, everyMs: number } }} Request
 */

/**
 * @param {Request} request A request of the method `bench/stream`.
 * @param {(message: string, isLast: boolean) => void} say
 * @returns {() => void} Ends it early.
 */
export function stream({ id, params: { events, everyMs } }, say) {
  let sent = 0
  const timer = setInterval(() => {
    const isLast = ++sent === events
    const told = { sentAt: performance.timeOrigin + performance.now() }
    const message = isLast ? { id, result: told } : { method: 'notifications/bench', params: told }
    if (isLast) clearInterval(timer)
    say(JSON.stringify({ jsonrpc: '2.0', ...message }), isLast)
  }, everyMs)
  return () => clearInterval(timer)
}

/** @param {Request} request A request of any other method. */
export const answerTo = ({ id }) => JSON.stringify({ jsonrpc: '2.0', id, result: { pad: 'r'.repeat(40) } })
