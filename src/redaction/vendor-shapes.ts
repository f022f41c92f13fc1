/** Tokens of vendors identified by a literal inside or after them. Only the text around the literal is examined. */
import type { Finding } from './finding.js'
import type { Literal } from './literal.js'
import type { TextRuns } from './text-runs.js'

/** The token around the literal at `at`, if there is one. */
export type ShapeFinder = (runs: TextRuns, at: number) => Finding | undefined

interface Shape extends Omit<Literal, 'exact'> {
  readonly find: ShapeFinder
  /** The literal is too frequent to trigger in every message. */
  readonly frequent?: true
  /** Checks the bytes around the literal before decoding. */
  readonly confirm?: (bytes: Uint8Array, start: number) => boolean
}

/** A token whose beginning, before the literal, matches `before`, and which continues as a run. */
function around(rule: string, before: RegExp, reach: number, least: number): ShapeFinder {
  return (runs, at) => {
    const head = before.exec(runs.text.slice(Math.max(0, at - reach), at))?.[0]
    if (head === undefined || !runs.startsWord(at - head.length)) return undefined
    const end = runs.endOf('token', at)
    return end - at >= least ? { start: at - head.length, end, rule } : undefined
  }
}

/** The text after a literal that belongs to a URL. */
function behind(rule: string, literal: string, least: number): ShapeFinder {
  return (runs, at) => {
    const start = at + literal.length
    const end = runs.endOfPath(start)
    return end - start >= least ? { start, end, rule } : undefined
  }
}

/** Up to the end of PuTTY's format: the check sum after the private lines. */
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

/** `pat`, 14 letters and digits, a full stop, 64 hexadecimal digits. */
const airtable = /^pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![A-Za-z0-9])/
/** `pat`, the account, the token, and random characters, each after a full stop. */
const harness = /^(?:pat|sat)\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])/
/** The id of the bot in base64, the time, and a signature. */
const discordBot = /^[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])/

/** A token around a full stop that begins `reach` characters before it. */
function dotted(rule: string, shape: RegExp, reach: number): ShapeFinder {
  return (runs, at) => {
    const start = at - reach
    const length = start < 0 ? undefined : shape.exec(runs.text.slice(start, start + 128))?.[0].length
    return length === undefined || !runs.startsWord(start) ? undefined : { start, end: start + length, rule }
  }
}

const airtableToken = dotted('airtable-token', airtable, 17)
const harnessToken = dotted('harness-token', harness, 3)
const discordTokens = [23, 24, 25, 26, 27, 28].map((reach) => dotted('discord-token', discordBot, reach))

const discordToken: ShapeFinder = (runs, at) => {
  if (runs.text[at + 7] !== '.') return undefined
  for (const find of discordTokens) {
    const found = find(runs, at)
    if (found !== undefined) return found
  }
  return undefined
}

const STOP = 0x2e

const facebookApp = /(?<![0-9A-Za-z])[0-9]{15,16}$/

/** The number of an app, a bar, and its secret. */
const facebookToken: ShapeFinder = ({ text }, at) => {
  const id = facebookApp.exec(text.slice(Math.max(0, at - 17), at))?.[0]
  if (id === undefined || !/^\|[\w-]{27}(?![\w-])/.test(text.slice(at, at + 29))) return undefined
  return { start: at - id.length, end: at + 28, rule: 'facebook-token' }
}

/** Elastic's scheme, whose credentials are an id and a key in base64. */
const apiKeyScheme: ShapeFinder = (runs, at) => {
  const start = at + 'ApiKey '.length
  const end = runs.endOfBase64(start)
  if (end - start < 24 || !/[0-9].*[A-Z]|[A-Z].*[0-9]/.test(runs.text.slice(start, start + 80)))
    return undefined
  return runs.startsWord(at) ? { start, end, rule: 'elastic-key' } : undefined
}

const digits = '0123456789'
const name = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

const fullStop = { literal: '.', before: name, after: name }

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39
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
  { ...fullStop, beside: { at: 7, character: '.' }, frequent: true, find: discordToken },
  { ...fullStop, beside: { at: -17, character: 'p' }, frequent: true, find: airtableToken },
  ...['pat.', 'sat.'].map((literal) => ({
    literal,
    confirm: (bytes: Uint8Array, at: number) => bytes[at + 26] === STOP,
    find: (runs: TextRuns, at: number) => harnessToken(runs, at + 3),
  })),
  {
    literal: '|',
    before: digits,
    after: name,
    confirm: (bytes, at) => isDigit(bytes[at - 14]) && isDigit(bytes[at - 9]),
    find: facebookToken,
  },
  { literal: 'ApiKey ', find: apiKeyScheme },
  { literal: 'Private-Lines:', find: puttyKey },
  { literal: '---- BEGIN SSH2', find: ssh2Key },
]
