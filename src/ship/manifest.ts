import { z } from 'zod'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()

/** What is known of a sealed segment without opening it. Written last: a segment without it is not there yet. */
const schema = z.object({
  v: z.literal(1),
  /** SHA-256 of the uncompressed bytes. */
  hash,
  /** Uncompressed. */
  bytes: count,
  encoding: z.enum(['gzip', 'zstd']),
  compressedBytes: count,
  /** Independently compressed parts, in order: `at` and `length` in the object, `from` and `bytes` in the tape. */
  members: z.array(z.object({ at: count, length: count, from: count, bytes: count })),
  session: z.string(),
  segment: count,
  startedAt: z.string(),
  /** Of the last line. */
  endedAt: z.string().nullable(),
  messages: count,
  gaps: count,
  /** Messages that the gaps tell of. */
  lost: count,
  host: z.string(),
  user: z.string(),
  label: z.string(),
  /** As the tape has it: redacted. */
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

/** Undefined for what is no manifest of a version we read. */
export function decodeManifest(text: string): Manifest | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Why `decodeManifest` does not understand a text. */
export function manifestTrouble(text: string): string {
  try {
    const version: unknown = (JSON.parse(text) as { v?: unknown } | null)?.v
    if (typeof version === 'number' && version > 1)
      return `its manifest has version ${version}, and this version of wiretape reads version 1: update the collector`
  } catch {
    // The text is no JSON.
  }
  return 'its manifest is not understood'
}

export function segmentKey(manifest: Pick<Manifest, 'hash' | 'encoding'>): string {
  return `segments/${manifest.hash.slice(0, 2)}/${manifest.hash}.jsonl.${manifest.encoding === 'zstd' ? 'zst' : 'gz'}`
}

export function manifestKey(digest: string): string {
  return `segments/${digest.slice(0, 2)}/${digest}.json`
}

/** Where the bus hears of it. Names of hosts have dots, which would be levels of the subject. */
export function sealedSubject({ host }: Pick<Manifest, 'host'>): string {
  return `wiretape.sealed.${host.replaceAll(/[^\w-]/g, '_') || '_'}`
}
