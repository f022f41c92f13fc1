/** Secrets recognised by their shape, anywhere in a text. */
import { builtTables } from './built-tables.js'
import type { Finding } from './finding.js'
import { LiteralFinder } from './literal-finder.js'
import type { Literal } from './literal.js'
import { marker } from './marker.js'
import { isPlaceholder } from './secret-looks.js'
import { findPath } from './secret-paths.js'
import { TextRuns } from './text-runs.js'
import { vendorRules, type VendorRule } from './vendor-rules.js'
import { vendorShapes, type ShapeFinder } from './vendor-shapes.js'

/** A literal at which a secret may begin. Secrets are read by hand, each run of characters once. */
interface Anchor extends Literal {
  /** The full pattern that must match at the literal. */
  readonly whole?: RegExp
  /** If undefined, the finders below decide by the text found. */
  readonly vendor?: VendorRule
  readonly shape?: ShapeFinder
}

function anchor(literal: string, whole?: RegExp): Anchor {
  return { literal, exact: true, ...(whole !== undefined && { whole }) }
}

export const anchors: readonly Anchor[] = [
  ...['sk-', 'sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'whsec_', 'AKIA', 'ASIA'].map((it) =>
    anchor(it),
  ),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'xapp-', 'eyJ', '-----BEGIN '].map((it) =>
    anchor(it),
  ),
  ...['.env', 'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'].map((it) => anchor(it)),
  anchor('xox', /xox[a-z][-.]/y),
  anchor('hooks.slack.com', /hooks\.slack\.com\\{0,8}\//y),
  ...['://', ':\\/', ':\\\\'].map((it) => anchor(it, /:\\{0,8}\/\\{0,8}\//y)),
  anchor('.ssh', /\.ssh(?:\\{1,8}\/?|\/)/y),
  { literal: 'bearer', whole: /bearer(?:[ \t]|%20|\\{1,8}t)/iy },
  ...vendorRules.map((vendor): Anchor => ({ ...anchor(vendor.prefix), ...edgesOf(vendor), vendor })),
  ...vendorShapes.map(({ find, ...shape }): Anchor => ({
    ...anchor(shape.literal),
    ...edgesOf(shape),
    shape: find,
  })),
]

type Edges = Pick<Literal, 'before' | 'after' | 'beside'>

function edgesOf({ before, after, beside }: Edges): Edges {
  return {
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(beside !== undefined && { beside }),
  }
}

const finder = new LiteralFinder(anchors, () => builtTables('anchors', anchors))

/** Creates the tables in advance. */
export const prepareValuePatterns = (): void => finder.prepare()

/** Rules whose findings may also be prose or a file name. */
const loose = new Set(['bearer', 'env-path', 'ssh-key-path', 'url-password'])

/** Adds the secrets in `text`, which is decoded, to `found`. Linear. `strict`: only what cannot be prose. */
export function findValuePatterns(text: string, until: number, found: Finding[], strict = false): void {
  let known: TextRuns | undefined
  finder.each(text, until, ({ literal, whole, vendor, shape }, at) => {
    let written = literal
    if (whole !== undefined) {
      whole.lastIndex = at
      const match = whole.exec(text)?.[0]
      if (match === undefined) return undefined
      written = match
    }
    const runs = (known ??= new TextRuns(text))
    const finding = vendor
      ? vendorToken(runs, at, vendor)
      : shape
        ? shape(runs, at)
        : findAt(runs, at, written)
    if (finding === undefined || (strict && loose.has(finding.rule))) return undefined
    found.push(finding)
    return finding.end
  })
}

function findAt(runs: TextRuns, at: number, found: string): Finding | undefined {
  const after = at + found.length
  switch (found) {
    case 'sk-':
      return skKey(runs, at)
    case 'whsec_':
      return prefixed(runs, at, runs.endOfBase64(after), after + 16, 'stripe-key')
    case 'AKIA':
    case 'ASIA':
      return awsKey(runs, at)
    case 'github_pat_':
      return prefixed(runs, at, runs.endOfName(after), after + 20, 'github-token')
    case 'xapp-':
      return prefixed(runs, at, runs.endOfName(after), after + 10, 'slack-token')
    case 'eyJ':
      return jwt(runs, at)
    case '-----BEGIN ':
      return privateKey(runs.text, at, after)
    default:
      if (found.startsWith('gh')) return prefixed(runs, at, runs.endOfName(after), after + 20, 'github-token')
      if (found.startsWith('xox'))
        return prefixed(runs, at, runs.endOfDotted(after), after + 10, 'slack-token')
      if (found.endsWith('_')) return prefixed(runs, at, runs.endOfName(after), after + 10, 'stripe-key')
      if (found.startsWith(':')) return urlPassword(runs, after)
      if (found.startsWith('hooks')) return webhook(runs, after)
      if (/^b/i.test(found)) return bearer(runs, after)
      return findPath(runs, at, found)
  }
}

/** Number of characters after a prefix that are examined. */
const longestShape = 80

function vendorToken(runs: TextRuns, start: number, vendor: VendorRule): Finding | undefined {
  const { rule, prefix, least, most, shape } = vendor
  const after = start + prefix.length
  const end = runs.endOf(vendor.run, after)
  const length = end - after
  if (length < least || (prefix !== ':AA' && !runs.startsWord(start))) return undefined
  // A full stop or a comma after a token belongs to the sentence.
  if (length > most || (vendor.run === 'word' && runs.isBase64Joint(end))) return undefined
  if (shape !== undefined && !shape.test(runs.text.slice(after, Math.min(end, after + longestShape))))
    return undefined
  return { start: prefix === ':AA' ? runs.startOfDigits(start) : start, end, rule }
}

function prefixed(
  runs: TextRuns,
  start: number,
  end: number,
  shortest: number,
  rule: string,
): Finding | undefined {
  return end >= shortest && runs.startsWord(start) ? { start, end, rule } : undefined
}

/** Long enough, and not words joined by hyphens (`sk-learn-contrib-examples`). */
function skKey(runs: TextRuns, start: number): Finding | undefined {
  if (!runs.startsWord(start)) return undefined
  const end = runs.endOfName(start)
  if (end - start < 19) return undefined
  const head = runs.text.slice(start + 3, Math.min(end, start + 64))
  return /[0-9A-Z]|[a-z]{16}/.test(head) ? { start, end, rule: 'sk-key' } : undefined
}

function awsKey(runs: TextRuns, start: number): Finding | undefined {
  const end = start + 20
  if (!runs.startsWord(start) || runs.isWord(end)) return undefined
  return /^[A-Z0-9]{20}$/.test(runs.text.slice(start, end)) ? { start, end, rule: 'aws-key' } : undefined
}

function jwt(runs: TextRuns, start: number): Finding | undefined {
  // All starts inside one run share the same rest, so a refused rest is not read again.
  if (start < runs.noJwtBefore || !runs.startsWord(start)) return undefined
  const head = runs.endOfName(start)
  const body = runs.text[head] === '.' ? runs.endOfName(head + 1) : head
  if (body - head < 3 || runs.text[body] !== '.') {
    runs.noJwtBefore = head
    return undefined
  }
  if (head - start < 12) return undefined
  let end = runs.endOfName(body + 1)
  // An encrypted token has five parts.
  for (let part = 3; part < 5 && runs.text[end] === '.'; part++) {
    const next = runs.endOfName(end + 1)
    if (next > end + 1) end = next
  }
  return { start, end, rule: 'jwt' }
}

const label = /^[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/
const longestLabel = 80

/** Index after the first line of a private key whose `-----BEGIN ` ends at `after`; undefined for other things. */
export function endOfKeyStart(text: string, after: number): number | undefined {
  const match = label.exec(text.slice(after, after + longestLabel))
  return match === null ? undefined : after + match[0].length
}

/** Index after the next `-----END …-----`; undefined if there is none. */
export function endOfKey(text: string, from: number): number | undefined {
  const end = text.indexOf('-----END', from)
  if (end < 0) return undefined
  const dashes = text.slice(end + 8, end + 8 + longestLabel).indexOf('-----')
  return dashes < 0 ? end + 8 : end + 8 + dashes + 5
}

function privateKey(text: string, start: number, after: number): Finding | undefined {
  const body = endOfKeyStart(text, after)
  if (body === undefined) return undefined
  return { start, end: endOfKey(text, body) ?? text.length, rule: 'private-key' }
}

/** The text after `hooks.slack.com/`; in JSON inside a string every slash may be `\/`. */
function webhook(runs: TextRuns, start: number): Finding | undefined {
  let end = runs.endOfPath(start)
  for (;;) {
    const slash = /^\\{1,8}\//.exec(runs.text.slice(end, end + 9))?.[0]
    if (slash === undefined) break
    end = runs.endOfPath(end + slash.length)
  }
  return end > start ? { start, end, rule: 'slack-webhook' } : undefined
}

/** The text between colon and path of a URL without a user: a port, or a placeholder for one. */
const port = /^(?:[0-9]*|port|\$?\{[^{}]*\}|\$\w+|%\w+%?)$/i

/**
 * `scheme://user:password@host`. The password may contain an `@` too: the last one before the path counts. If
 * there is none, the password may also contain `/`, `?` and `#`.
 */
function urlPassword(runs: TextRuns, start: number): Finding | undefined {
  const authority = runs.text.slice(start, runs.endOfAuthority(start))
  const colon = authority.indexOf(':')
  if (colon < 0) return undefined
  const before = authority.lastIndexOf('@')
  // The colons of an IPv6 address and those after the `@` do not count.
  const open = before < 0 && !authority.startsWith('[') && !port.test(authority.slice(colon + 1, colon + 65))
  const at = open ? runs.lastAtSign(start) - start : before
  if (at <= colon + 1 || isMarkerAt(runs.text, start + colon + 1, start + at)) return undefined
  const password = authority.slice(colon + 1, Math.min(at, colon + 64))
  if (/^(?:pass|password|passwd|pwd)$/i.test(password) || isPlaceholder(password)) return undefined
  return { start: start + colon + 1, end: start + at, rule: 'url-password' }
}

function isMarkerAt(text: string, start: number, end: number): boolean {
  return end - start === marker.length && text.startsWith(marker, start)
}

/** Parameters of a challenge (`WWW-Authenticate: Bearer realm="…"`), which are not secrets. */
const challenge =
  /^(?:realm|scope|error|error_description|error_uri|resource|resource_metadata|as_uri|authorization_uri|charset|algorithms?|title|nonce|stale|qop|opaque)=/i
/** Words that follow `bearer` in prose. */
const prose = /^(?:auth(?:enticat|oriz|oris)\w*|credentials?|challenges?|required|requests?|scheme)$/i

function bearer(runs: TextRuns, after: number): Finding | undefined {
  const { text } = runs
  let start = after
  while ((text[start] === ' ' || text[start] === '\t') && start < after + 8) start++
  start += /^\\{0,8}["'`]/.exec(text.slice(start, start + 9))?.[0].length ?? 0
  const end = runs.endOfToken68(start)
  if (end - start < 8) return undefined
  // Names of parameters and words of prose are never that long.
  const head = text.slice(start, Math.min(end, start + 40))
  if (challenge.test(head)) return undefined
  if (isPlaceholder(head)) return undefined
  return prose.test(head.replace(/[.~/+-]+$/, '')) ? undefined : { start, end, rule: 'bearer' }
}
