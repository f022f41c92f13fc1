/** A replacement keeps its message's kind: else a request stays unanswered, or an unasked response arrives. */
export function otherShape(before: string, after: string): string | undefined {
  const [was, is] = [shapeOf(before), shapeOf(after)]
  return was === is ? undefined : `the message would be ${is} instead of ${was}`
}

function shapeOf(kind: string): string {
  if (kind === 'result' || kind === 'error') return 'a response'
  return kind === 'invalid' ? 'invalid JSON-RPC' : `a ${kind}`
}
