import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

/** A report for people: a table of the messages, then each message. */
export const markdown: Format = {
  id: 'markdown',
  title: 'report (Markdown)',
  extension: '.md',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeMarkdown),
}
