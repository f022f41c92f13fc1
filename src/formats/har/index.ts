import type { Format } from '../format.js'
import { withFoundTransport } from '../found-transport.js'
import { lazyRead, lazyWrite } from '../lazy.js'

/** HTTP Archive 1.2, with stream events in the form of Chrome DevTools. */
export const har: Format = {
  id: 'har',
  title: 'HTTP Archive (HAR 1.2)',
  extension: '.har',
  detect,
  read: lazyRead(async () => {
    const { readHar } = await import('./read.js')
    return (input, report) => withFoundTransport(readHar(input, report))
  }),
  write: lazyWrite(async () => (await import('./write.js')).writeHar),
}

/** An object whose `log` has the usual members. */
function detect(head: Uint8Array): number {
  const text = new TextDecoder().decode(head)
  if (!/^\ufeff?\s*\{\s*"log"\s*:\s*\{/.test(text)) return 0
  return /"(?:entries|creator|version)"\s*:/.test(text) ? 0.95 : 0.5
}
