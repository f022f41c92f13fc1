import { signal } from '@preact/signals'
import { door } from './door.js'

/** Address of the store whose sessions are listed; null for the data folder, undefined until wiretape said so. */
export const store = signal<string | null | undefined>(undefined)

/** Asks what is listed. Without an answer, the list says why. */
export async function findPlace(): Promise<void> {
  const response = await door.fetch('./api/place').catch(() => undefined)
  if (response?.ok) store.value = ((await response.json()) as { store: string | null }).store
}
