/** Tokens of vendors that are known by a literal inside or behind them. Each is looked at around that literal only. */
import type { Finding } from './finding.js'
import type { TextRuns } from './text-runs.js'

/** The token around the literal at `at`, if there is one. */
export type ShapeFinder = (runs: TextRuns, at: number) => Finding | undefined

interface Shape {
  readonly literal: string
  readonly find: ShapeFinder
}

/** A token whose beginning stands before the literal, as `before` has it, and that goes on as a run. */
function around(rule: string, before: RegExp, reach: number, least: number): ShapeFinder {
  return (runs, at) => {
    const head = before.exec(runs.text.slice(Math.max(0, at - reach), at))?.[0]
    if (head === undefined || !runs.startsWord(at - head.length)) return undefined
    const end = runs.endOf('token', at)
    return end - at >= least ? { start: at - head.length, end, rule } : undefined
  }
}

/** What follows a literal that belongs to a URL. */
function behind(rule: string, literal: string, least: number): ShapeFinder {
  return (runs, at) => {
    const start = at + literal.length
    const end = runs.endOfPath(start)
    return end - start >= least ? { start, end, rule } : undefined
  }
}

/** Up to the end of what PuTTY writes: the check sum behind the private lines. */
const puttyKey: ShapeFinder = ({ text }, at) => {
  const start = at + 'Private-Lines:'.length
  const mac = text.indexOf('Private-MAC:', start)
  if (mac < 0) return { start, end: text.length, rule: 'private-key' }
  const line = /[\r\n\\"]/.exec(text.slice(mac, mac + 200))?.index
  return { start, end: line === undefined ? text.length : mac + line, rule: 'private-key' }
}

/** `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----`, with four dashes. */
const ssh2Key: ShapeFinder = ({ text }, start) => {
  if (!/^---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/.test(text.slice(start, start + 60)))
    return undefined
  const end = text.indexOf('---- END SSH2', start)
  const rest = end < 0 ? '' : text.slice(end + 13, end + 80)
  const dashes = rest.indexOf('----')
  return { start, end: end < 0 ? text.length : end + 13 + (dashes < 0 ? 0 : dashes + 4), rule: 'private-key' }
}

export const vendorShapes: readonly Shape[] = [
  { literal: '.atlasv1.', find: around('terraform-token', /[A-Za-z0-9]{14}$/, 14, 50) },
  { literal: '_mmk', find: around('maxmind-key', /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/, 36, 4) },
  ...['.acc_', '.acc-'].map((literal) => ({
    literal,
    find: around('authress-key', /(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}$/i, 48, 40),
  })),
  ...Array.from('0123456789', (digit) => ({
    literal: `${digit}Q~`,
    find: around('azure-secret', /[A-Za-z0-9_~.]{3}$/, 3, 30),
  })),
  ...Array.from('123456789', (digit) => ({
    literal: `-us${digit}`,
    find: around('mailchimp-key', /[0-9a-f]{32}$/, 32, 4),
  })),
  { literal: '/api/webhooks/', find: behind('discord-webhook', '/api/webhooks/', 20) },
  { literal: 'webhook.office.com/', find: behind('teams-webhook', 'webhook.office.com/', 20) },
  {
    literal: 'outlook.office.com/webhook/',
    find: behind('teams-webhook', 'outlook.office.com/webhook/', 20),
  },
  { literal: 'hooks.zapier.com/', find: behind('zapier-webhook', 'hooks.zapier.com/', 12) },
  { literal: 'mcp.zapier.com/', find: behind('zapier-url', 'mcp.zapier.com/', 24) },
  { literal: '/api/mcp/s/', find: behind('mcp-url', '/api/mcp/s/', 8) },
  { literal: 'Private-Lines:', find: puttyKey },
  { literal: '---- BEGIN SSH2', find: ssh2Key },
]
