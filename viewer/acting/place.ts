import { signal } from '@preact/signals'
import { door } from './door.js'

/** URL of the listed store; null for the data folder, undefined until known. */
export const store = signal<string | null | undefined>(undefined)

/** Asks wiretape which place is listed. If that fails, the list reports the reason. */
export async function findPlace(): Promise<void> {
  const response = await door.fetch('./api/place').catch(() => undefined)
  if (response?.ok) store.value = ((await response.json()) as { store: string | null }).store
}
