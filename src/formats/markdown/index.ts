import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

/** A report for people: a table of what was said, then every message. */
export const markdown: Format = {
  id: 'markdown',
  title: 'report (Markdown)',
  extension: '.md',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeMarkdown),
}
