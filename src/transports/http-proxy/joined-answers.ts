/** The response to a batch of which parts were answered here: one JSON array. */
export interface JoinedAnswer {
  readonly body: Buffer
  /** The upstream's headers, with matching length and type. */
  readonly headers: string[]
}

/**
 * @param body the upstream's response without its content coding: JSON, or empty
 * @param ours JSON texts
 * @returns undefined when the body is neither
 */
export function joinAnswers(
  body: Buffer,
  headers: readonly string[],
  ours: readonly string[],
): JoinedAnswer | undefined {
  const theirs = body.toString('utf8').trim()
  const isArray = theirs.startsWith('[') && theirs.endsWith(']')
  if (theirs !== '' && !isArray && !theirs.startsWith('{')) return undefined
  const inner = isArray ? theirs.slice(1, -1).trim() : theirs
  const joined = Buffer.from(`[${[...ours, ...(inner === '' ? [] : [inner])].join(',')}]`)
  const kept: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (!/^(content-type|content-length|content-encoding)$/i.test(headers[n]!))
      kept.push(headers[n]!, headers[n + 1]!)
  }
  kept.push('Content-Type', 'application/json', 'Content-Length', String(joined.length))
  return { body: joined, headers: kept }
}
