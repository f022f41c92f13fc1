/** What a client gets that sent a batch of which a part was answered here: one JSON array. */
export interface JoinedAnswer {
  readonly body: Buffer
  /** Of the upstream's answer, with a length and a type that fit. */
  readonly headers: string[]
}

/**
 * @param body the upstream's answer without its content coding: JSON, or nothing at all
 * @param ours JSON texts
 * @returns undefined where it is neither
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
