/** What is sent in the place of a message is of its kind: else somebody waits for an answer, or gets one unasked. */
export function otherShape(before: string, after: string): string | undefined {
  const [was, is] = [shapeOf(before), shapeOf(after)]
  return was === is ? undefined : `the message would be ${is} instead of ${was}`
}

function shapeOf(kind: string): string {
  if (kind === 'result' || kind === 'error') return 'a response'
  return kind === 'invalid' ? 'invalid JSON-RPC' : `a ${kind}`
}
