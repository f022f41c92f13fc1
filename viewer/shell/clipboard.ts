import { notice } from '../store/state.js'

/** Copies a text, and says so or why not. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notice.value = { text: done, tone: 'plain' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    notice.value = { text: `Not copied: ${message}`, tone: 'bad' }
  }
}
