import type { Direction, GapRecord } from '../model/index.js'
import { longestMessage } from '../wire/index.js'
import { whyTooLong, type HttpBody } from './http-body.js'

type Stamp = Pick<GapRecord, 't' | 'us'>

/** The gap for a body with only size and hash. */
export function gapOfBody(body: HttpBody, direction: Direction, stamp: Stamp): GapRecord {
  const sha256 = body.sha256()
  const { sizeBytes, why } = body
  return {
    ...gapOfSize(sizeBytes, direction, stamp),
    why,
    ...(sha256 !== undefined && { sha256 }),
  }
}

/** The gap for a message of more than `longestMessage`. */
export function gapOfSize(sizeBytes: number, direction: Direction, stamp: Stamp): GapRecord {
  return {
    type: 'gap',
    ...stamp,
    lost: 1,
    lostBytes: sizeBytes,
    why: whyTooLong(longestMessage),
    direction,
  }
}
