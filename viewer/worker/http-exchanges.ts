/** The rows of a lane that contain the headers of each HTTP exchange: the first row of each side. */
export interface HttpExchanges {
  /** A session begins with this row; exchange numbers start again. */
  begin(row: number): void
  /** Adds a row. @param side `both` for a line without a message, which may have the headers of both */
  add(exchange: number, row: number, side: 'request' | 'response' | 'both'): void
  /** The first row of the request, in the current session; -1 for none. */
  request(exchange: number): number
  /** The first row of the request, in the session of another row; -1 for none. */
  requestOf(exchange: number, row: number): number
  /** The first row of the response, in the session of another row; -1 for none. */
  response(exchange: number, row: number): number
}

/** Exchanges are numbered consecutively; no recorder writes numbers beyond this one. */
const farthest = 1 << 24

export function createHttpExchanges(): HttpExchanges {
  let current = emptySides(0)
  const all = [current]

  return {
    begin(row) {
      current = emptySides(row)
      all.push(current)
    },
    add(exchange, row, side) {
      if (exchange < 0 || exchange >= farthest) return
      if (exchange >= current.requests.length) {
        const length = Math.max(1024, 2 * current.requests.length, exchange + 1)
        current.requests = extend(current.requests, length)
        current.responses = extend(current.responses, length)
      }
      const { requests, responses } = current
      if (side !== 'response' && requests[exchange] === -1) requests[exchange] = row
      if (side !== 'request' && responses[exchange] === -1) responses[exchange] = row
    },
    request: (exchange) => current.requests[exchange] ?? -1,
    requestOf: (exchange, row) => all.findLast(({ from }) => from <= row)?.requests[exchange] ?? -1,
    response: (exchange, row) => all.findLast(({ from }) => from <= row)?.responses[exchange] ?? -1,
  }
}

function emptySides(from: number) {
  return { from, requests: new Int32Array(0), responses: new Int32Array(0) }
}

function extend(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(length).fill(-1)
  to.set(from)
  return to
}
