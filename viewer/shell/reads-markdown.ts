import { effect, signal } from '@preact/signals'
import { remember, remembered } from './memory.js'

/** Markdown is drawn; else it is shown as it is written. */
export const readsMarkdown = signal(typeof document !== 'undefined' && remembered('markdown') !== 'off')

effect(() => {
  const words = readsMarkdown.value ? 'on' : 'off'
  if (typeof document !== 'undefined' && words !== (remembered('markdown') ?? 'on'))
    remember('markdown', words)
})
