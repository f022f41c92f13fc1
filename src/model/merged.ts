import type { Transport } from './envelope.js'
import type { JsonMembers } from './record.js'

/** A source of a merged recording. Its name prefixes the original names of its conversations. */
export interface MergedRecording {
  readonly conversation: string
  /** As written in the recording. */
  readonly startedAt: string | undefined
  readonly transport: Transport
  readonly url: string | null
  readonly command: readonly string[]
}

/** Origin of a message. */
export interface Origin {
  readonly transport: Transport
  readonly url: string | null
  /** Label of the merged recording that the message comes from. */
  readonly label?: string
}

/**
 * The `merged` member in the metadata of a recording that `convert A B OUT` wrote.
 *
 * @param json value of the member `merged`
 * @returns undefined for anything else
 */
export function readMerged(json: string): MergedRecording[] | undefined {
  const list = JSON.parse(json) as unknown
  if (!Array.isArray(list) || list.length === 0) return undefined
  const recordings: MergedRecording[] = []
  for (const one of list as unknown[]) {
    if (typeof one !== 'object' || one === null) return undefined
    const { conversation, startedAt, transport, url, command } = one as Record<string, unknown>
    if (typeof conversation !== 'string') return undefined
    recordings.push({
      conversation,
      startedAt: typeof startedAt === 'string' ? startedAt : undefined,
      transport: transport === 'streamable-http' || transport === 'sse' ? transport : 'stdio',
      url: typeof url === 'string' ? url : null,
      command: Array.isArray(command) ? command.filter((word) => typeof word === 'string') : [],
    })
  }
  return recordings
}

/** The sources of a merged recording; undefined for one that was not merged. */
export function mergedIn(metadata: JsonMembers): MergedRecording[] | undefined {
  const json = metadata.find(([name]) => name === 'merged')?.[1]
  return json === undefined ? undefined : readMerged(json)
}

/** Finds the origin of messages; in a merged recording, it differs per conversation. */
export function createOrigins(
  of: Origin & { readonly metadata?: JsonMembers },
): (conversation: string | undefined) => Origin {
  // The longest name first: one name may be a prefix of another.
  const merged = mergedIn(of.metadata ?? [])
    ?.map((one) => ({ ...one, label: one.conversation }))
    .toSorted((a, b) => b.label.length - a.label.length)
  if (!merged) return () => of
  return (conversation = '') =>
    merged.find(({ label }) => conversation === label || conversation.startsWith(`${label} `)) ?? of
}
