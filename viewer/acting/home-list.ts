import { signal } from '@preact/signals'
import type { ListedRecording } from '../../src/control-schema/index.js'
import { door } from './door.js'
import { wordsOf } from './state.js'

/** The recordings of Home; undefined until loaded. */
export const listed = signal<readonly ListedRecording[] | undefined>(undefined)
/** Why the list could not be loaded. */
export const trouble = signal<string | undefined>(undefined)

export async function loadList(): Promise<void> {
  try {
    const response = await door.fetch('./api/recordings')
    if (!response.ok)
      throw new Error(`wiretape responded with HTTP ${response.status}: ${(await response.text()).trim()}`)
    listed.value = (await response.json()) as ListedRecording[]
    trouble.value = undefined
  } catch (error) {
    trouble.value = wordsOf(error)
  }
}
