import type { Format } from '../format.js'
import { lazyRead, lazyWrite } from '../lazy.js'

/** Exports of MCP Inspector; also a plain list of JSON-RPC messages. */
export const inspector: Format = {
  id: 'inspector',
  title: 'MCP Inspector export (JSON)',
  detect,
  read: lazyRead(async () => (await import('./read.js')).readInspector),
  write: lazyWrite(async () => (await import('./write.js')).writeProtocol),
}

/** The first element of an array, or of `events`, decides. */
function detect(head: Uint8Array): number {
  const text = new TextDecoder().decode(head)
  if (/^\ufeff?\s*(?:\[\s*\]|\{\s*"events"\s*:\s*\[\s*\]\s*\})\s*$/.test(text)) return 0.5
  const start =
    /^\ufeff?\s*(?:\[\s*|\{\s*(?:"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[\w.-]+)\s*,\s*)*"events"\s*:\s*\[\s*)(?=[{\]])/.exec(
      text,
    )
  if (!start) return 0
  // A document on one line has nothing after it: otherwise the line is a batch.
  if (/^\ufeff?\s*\[[^\n]*\][ \t\r]*\n\s*[[{]/.test(text)) return 0
  const first = text.slice(start[0].length, start[0].length + 4096)
  const has = (name: string): boolean => first.includes(`"${name}"`)
  if (has('direction') && has('message')) return 0.9
  if (has('url') && has('method') && (has('requestHeaders') || has('category'))) return 0.9
  if (has('receivedAt') && has('params')) return 0.9
  if (has('jsonrpc')) return 0.8
  if (/^\{\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"message"\s*:\s*"/.test(first)) return 0.7
  return start[0].includes('"events"') && has('method') ? 0.5 : 0
}
