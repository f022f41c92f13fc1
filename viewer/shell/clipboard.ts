import { notice, type Notice } from '../store/state.js'

/** Copies a text, and shows a notice about the outcome. */
export async function copyText(make: () => string | Promise<string>, done: Notice): Promise<void> {
  try {
    await navigator.clipboard.writeText(await make())
    notice.value = done
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    notice.value = { text: `Cannot copy: ${message}`, tone: 'bad' }
  }
}
