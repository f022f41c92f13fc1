import type { Draft } from './draft.js'
import type { Envelope } from './envelope.js'
import { detach } from './recent.js'

/** Longer ids, tokens and task names are not correlated: each message could otherwise add megabytes of memory. */
const longestId = 4_096
/** Longer request subjects are not remembered. */
const longestName = 1_000

/** Whether an id is short enough to be remembered. @param id exact JSON text */
export function canRelate(id: string): boolean {
  return id.length <= longestId
}

const idMembers = ['id', 'progressToken', 'cancels', 'subscriptionId', 'taskId'] as const

export function hasLongId({ id, progressToken, cancels, subscriptionId, taskId }: Envelope): boolean {
  return (
    (id !== undefined && id.length > longestId) ||
    (progressToken !== undefined && progressToken.length > longestId) ||
    (cancels !== undefined && cancels.length > longestId) ||
    (subscriptionId !== undefined && subscriptionId.length > longestId) ||
    (taskId !== undefined && taskId.length > longestId)
  )
}

export function withoutLongIds(envelope: Envelope): Envelope {
  const short: Draft<Envelope> = { ...envelope }
  for (const member of idMembers) if ((short[member]?.length ?? 0) > longestId) delete short[member]
  return short
}

export function shortText(text: string | null): string | null {
  return text === null || text.length > longestName ? null : text
}

export function ownText(text: string | undefined): string | null {
  return text === undefined || text.length > longestName ? null : detach(text)
}
