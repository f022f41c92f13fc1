import type { Redactor } from '../../../src/redaction/index.js'
import type { Innocent } from './innocents.js'
import type { Planted, Surface } from './secrets.js'

/** Pieces of a secret that must not stay beside the marker. */
const longestRest = 6

/** The recorded text after redaction at its place. */
export function leftOf(redactor: Redactor, surface: Surface | Innocent['surface'], text: string): string {
  switch (surface) {
    case 'string': {
      const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })
      const left = JSON.parse(redactor.json(raw)?.raw ?? raw) as { result: { content: { text: string }[] } }
      return left.result.content[0]!.text
    }
    case 'member': {
      const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${text}}}`
      return (redactor.json(raw)?.raw ?? raw).slice(raw.indexOf(text), -2)
    }
    case 'description': {
      const raw = JSON.stringify({
        id: 1,
        result: { tools: [{ name: 'x', description: text, inputSchema: { description: text } }] },
      })
      return redactor.json(raw)?.raw === undefined ? text : 'changed'
    }
    case 'line':
      return redactor.line(text, 'stderr') ?? text
    case 'command':
      return JSON.stringify(redactor.command(JSON.parse(text) as string[]))
    case 'url':
      return redactor.url(text)
    case 'path':
      return redactor.path(text)
    case 'headers':
      return JSON.stringify(redactor.headers(JSON.parse(text) as [string, string][]))
    case 'form':
      return redactor.form(text)
  }
}

/** Whether nothing of the secret is left, not even a piece of it. */
export function isCaught(redactor: Redactor, { surface, text, secret }: Planted): boolean {
  const left = leftOf(redactor, surface, text)
  const size = Math.min(longestRest, secret.length)
  for (let i = 0; i + size <= secret.length; i++) {
    const piece = secret.slice(i, i + size)
    if (/\d/.test(piece) && left.includes(piece)) return false
  }
  return left !== text
}
