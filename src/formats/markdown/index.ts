import { writeOnly } from '../lazy.js'
import type { Format } from '../format.js'

/** A report for people: a table of the messages, then each message. */
export const markdown: Format = writeOnly(
  { id: 'markdown', title: 'report (Markdown)', extension: '.md' },
  async () => (await import('./write.js')).writeMarkdown,
)
