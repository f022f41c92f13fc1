import { effect, signal } from '@preact/signals'
import { remember, remembered } from './memory.js'

/** Whether Markdown is rendered; else it is shown as written. */
export const readsMarkdown = signal(typeof document !== 'undefined' && remembered('markdown') !== 'off')

effect(() => {
  const words = readsMarkdown.value ? 'on' : 'off'
  if (typeof document !== 'undefined' && words !== (remembered('markdown') ?? 'on'))
    remember('markdown', words)
})
