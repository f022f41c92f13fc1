import { z } from 'zod'
import { decodeJson } from './decode-json.js'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()

/** Describes a sealed segment. Written last: a segment without a manifest is not complete yet. */
const schema = z.object({
  v: z.literal(1),
  /** SHA-256 of the uncompressed bytes. */
  hash,
  /** Uncompressed size. */
  bytes: count,
  encoding: z.enum(['gzip', 'zstd']),
  compressedBytes: count,
  /** Independently compressed parts, in order: `at` and `length` in the object, `from` and `bytes` in the tape. */
  members: z.array(z.object({ at: count, length: count, from: count, bytes: count })),
  session: z.string(),
  segment: count,
  startedAt: z.string(),
  /** Time of the last line. */
  endedAt: z.string().nullable(),
  messages: count,
  gaps: count,
  /** Messages missing in gaps. */
  lost: count,
  host: z.string(),
  user: z.string(),
  label: z.string(),
  /** As on the tape: redacted. */
  server: z.object({
    transport: z.string().nullable(),
    command: z.array(z.string()),
    url: z.string().nullable(),
  }),
  /** Version of the shipper. */
  wiretape: z.string(),
  shippedAt: z.string(),
})

export type Manifest = z.infer<typeof schema>

/** Undefined unless it is a manifest of a supported version. */
export function decodeManifest(text: string): Manifest | undefined {
  return decodeJson(schema, text)
}

/** Why `decodeManifest` rejects a text. */
export function manifestTrouble(text: string): string {
  try {
    const { v, encoding } = (JSON.parse(text) ?? {}) as { v?: unknown; encoding?: unknown }
    if (typeof v === 'number' && v > 1)
      return `its manifest has version ${v}, and this version of wiretape reads version 1: update the collector`
    if (v === 1 && typeof encoding === 'string' && !schema.shape.encoding.safeParse(encoding).success)
      return `its compression ${JSON.stringify(encoding.slice(0, 40))} is unknown to this version of wiretape: update the collector`
  } catch {
    // Not JSON.
  }
  return 'its manifest is invalid'
}

export function segmentKey(manifest: Pick<Manifest, 'hash' | 'encoding'>): string {
  return `segments/${manifest.hash.slice(0, 2)}/${manifest.hash}.jsonl.${manifest.encoding === 'zstd' ? 'zst' : 'gz'}`
}

export function manifestKey(digest: string): string {
  return `segments/${digest.slice(0, 2)}/${digest}.json`
}
