import { signal } from '@preact/signals'
import type { ListedRecording } from '../../src/control-schema/index.js'
import { countOf, formatBytes } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { loadList } from './home-list.js'
import { tell, wordsOf } from './state.js'

/** Deletion that waits for confirmation: the id of a recording, or all selected recordings. */
export const asked = signal<string | undefined>(undefined)

/** Names of recordings in a sentence; the rest are counted. */
const mostNames = 5

/** Deletes one recording after a confirmation. */
export function Deleting({ one, label }: { readonly one: ListedRecording; readonly label: string }) {
  if (asked.value !== one.id)
    return (
      <button
        type="button"
        class="button small"
        aria-label={`Delete ${label}`}
        onClick={() => (asked.value = one.id)}
      >
        Delete
      </button>
    )
  return (
    <span class="home-asked" role="group" aria-label={`Delete ${label} permanently?`}>
      <button type="button" class="button small danger" onClick={() => void remove([one])}>
        Delete permanently
      </button>
      <button type="button" class="button small" onClick={() => (asked.value = undefined)}>
        Cancel
      </button>
    </span>
  )
}

/** Deletes the selected recordings after one confirmation. Live ones stay. */
export function DeletingAll({ chosen }: { readonly chosen: readonly ListedRecording[] }) {
  const live = chosen.filter(({ state }) => state === 'live')
  const ended = chosen.filter(({ state }) => state !== 'live')
  const sizeBytes = ended.reduce((sum, one) => sum + one.sizeBytes, 0)
  const count = countOf(ended.length, 'recording')
  return (
    <div class="home-delete" role="group" aria-label="Delete the selected recordings?">
      <p>
        {ended.length === 0
          ? 'No selected recording can be deleted.'
          : `Delete ${count} (${formatBytes(sizeBytes)}) permanently: ${namesOf(ended)}?`}
        {live.length > 0 && ` Live recordings are not deleted: ${namesOf(live)}.`}
      </p>
      {ended.length > 0 && (
        <button type="button" class="button danger" onClick={() => void remove(ended)}>
          Delete {count}
        </button>
      )}
      <button type="button" class="button" onClick={() => (asked.value = undefined)}>
        Cancel
      </button>
    </div>
  )
}

function namesOf(recordings: readonly ListedRecording[]): string {
  const names = recordings.slice(0, mostNames).map(({ label }) => clean(label))
  const more = recordings.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

async function remove(recordings: readonly ListedRecording[]): Promise<void> {
  asked.value = undefined
  const failures: string[] = []
  for (const { id, label } of recordings)
    try {
      await askToAct(`./api/recordings/${id}/delete`, {})
    } catch (error) {
      failures.push(`Cannot delete ${label}: ${wordsOf(error)}`)
    }
  const [first, ...others] = failures
  const [only, ...more] = recordings
  if (first !== undefined)
    tell(others.length === 0 ? first : `${first} (${others.length} more failed)`, 'bad')
  else tell(`Deleted ${more.length === 0 ? only!.label : countOf(recordings.length, 'recording')}.`)
  await loadList()
}
