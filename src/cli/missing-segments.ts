import { basename } from 'node:path'
import type { TapeRecord } from '../model/index.js'
import { segmentPath } from '../tape/index.js'

/** Segments of a rotated recording missing from the input. */
export interface Missing {
  readonly count: number
  /** Message for people, not escaped. */
  readonly message: string
}

/**
 * @param segments existing ones, in order
 * @param continues whether the last one has a successor
 * @param name of the first file, as the user named it
 */
export function missingSegments(
  { segments, continues }: { readonly segments: readonly number[]; readonly continues: boolean },
  name: string,
): Missing[] {
  const missing: Missing[] = []
  const base = name.replace(/(\.\d+)?\.jsonl$/, '.jsonl')
  /** Only names written by the recorder show those of other segments. */
  const named = (first: number, last = first): string => {
    if (!base.endsWith('.jsonl')) return ''
    const names = [...new Set([first, last])].map((segment) => basename(segmentPath(base, segment)))
    return `: ${names.join(' to ')}`
  }
  let expected = 0
  for (const segment of segments) {
    const last = segment - 1
    if (expected === last) {
      missing.push({ count: 1, message: `segment ${last} is missing${named(last)}` })
    } else if (expected < last) {
      missing.push({
        count: segment - expected,
        message: `segments ${expected} to ${last} are missing${named(expected, last)}`,
      })
    }
    expected = segment + 1
  }
  if (continues) {
    const message = `the recording continues in segment ${expected}, which is missing${named(expected)}`
    missing.push({ count: 1, message })
  }
  return missing
}

/** Tracks the segments of successive recordings. */
export function createSegmentWatch(): {
  see(record: TapeRecord): void
  readonly recordings: readonly { readonly segments: readonly number[]; readonly continues: boolean }[]
} {
  const recordings: { session: string | undefined; segments: number[]; continues: boolean }[] = []
  return {
    recordings,
    see(record) {
      if (record.type === 'meta') {
        const { session, segment = 0 } = record.wiretape ?? {}
        const last = recordings.at(-1)
        if (last && session !== undefined && last.session === session) {
          last.segments.push(segment)
          last.continues = false
        } else recordings.push({ session, segments: [segment], continues: false })
      } else if (record.type === 'end') {
        const last = recordings.at(-1)
        if (last) last.continues = record.wiretape?.rotated === true
      }
    },
  }
}
