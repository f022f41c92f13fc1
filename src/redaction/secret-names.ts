import { TextCache } from '../model/index.js'
/** Names (of members, variables, flags, headers, query parameters) that mark their value as a secret. */

/** `_` marks a possible joint: any run of characters other than letters and digits. In order of preference. */
const terms = [
  'pass_word',
  'pass_wd',
  'pass_phrase',
  'pass_code',
  'pwd',
  'secret',
  'token',
  'api_key',
  'authorization',
  'authorisation',
  'bearer',
  'private_key',
  'access_key',
] as const

/** Suffixes with which a term still names a secret: `secret_key`, `tokenValue`, `passwordHash`, `token2`. */
const suffixes = [
  'key',
  'value',
  'val',
  'hash',
  'hashed',
  'text',
  'string',
  'str',
  'raw',
  'plain',
  'base64',
  'b64',
  'encoded',
  'encrypted',
  'data',
  'header',
  'param',
  'env',
  'var',
  'confirm',
  'confirmation',
  'confirmed',
  'repeat',
  'old',
  'new',
  'current',
  'prod',
  'production',
  'dev',
  'test',
  'live',
  'staging',
  '[0-9]',
] as const

const anyOf = (words: readonly string[]): string => words.join('|').replaceAll('_', '_?')
/** Without the flag `u`, so that only ASCII matches, as for the trigger: no `ſ` for `s`, no Kelvin sign for `k`. */
const secretName = new RegExp(`(${anyOf(terms)})(?:_?s)?(?:_?(?:${anyOf(suffixes)}))*_?$`, 'i')

/** Words before `tokens` in counters of model tokens. */
const counted = [
  ['input', 'output', 'prompt', 'completion', 'reasoning', 'thinking', 'cached', 'audio'],
  ['new', 'context', 'cache', 'text', 'image', 'video', 'model', 'response', 'generated', 'generation'],
  ['window', 'read', 'write', 'creation', 'llm', 'per', 'total', 'used', 'prediction', 'sample', 'chunk'],
].flat()

/** Counters of model tokens: only known words before `tokens`, or a clear one directly before it. */
const harmlessName = new RegExp(
  `^_?(?:max|min|num|total|used|remaining)(?:_?(?:${anyOf(counted)}))*_?tokens_?$|(?:${anyOf(counted.slice(0, 8))})_?tokens_?$`,
  'i',
)

/** Special marks in a model's input and output, and design constants. */
const otherTokens =
  /(?:^|_)(?:stop|eos|bos|pad|unk|sep|cls|mask|special|design|theme|style|unexpected)_?tokens?_?$/i

const joint = /[^\p{L}\p{N}]+/gu

/** A term and its suffixes are at the end of a name, however long the name is. */
const longestTail = 128

/** The term that makes a decoded name the name of a secret; undefined if there is none. */
export function secretTermOf(name: string): string | undefined {
  return strongTermOf(tailOf(name))
}

function tailOf(name: string): string {
  return (name.length > longestTail ? name.slice(-longestTail) : name).replace(joint, '_')
}

/** `designTokens` as `design_Tokens`. */
function inWords(tail: string): string {
  return tail.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
}

function strongTermOf(tail: string): string | undefined {
  const term = (secretName.exec(tail) ?? oauthName.exec(tail))?.[1]
  if (term === undefined || harmlessName.test(tail) || otherTokens.test(inWords(tail))) return undefined
  return term.replace('_', '').toLowerCase()
}

/** Members of OAuth requests and responses. */
const oauthName = /^_?(device_?code|code_?verifier|client_?assertion)_?$/i
const oauthField =
  /^(?:code|assertion|saml_?response|id_?token|otp|totp|mfa_?code|one_?time_?code|verification_?code|security_?code)$/i

/** The name of a form field that carries a secret, though elsewhere the name may mean anything. */
export function oauthTerm(name: string): string | undefined {
  return oauthField.test(name) ? name.toLowerCase() : undefined
}

/** A name's verdict on its value. */
export interface NameVerdict {
  readonly term: string
  /**
   * Requirement for a secret value: `any`thing; `credentials`, with a digit or a symbol; `made` by a machine
   * beyond doubt.
   */
  readonly needs: 'any' | 'credentials' | 'made'
}

const keyName = new RegExp(`[^\\W_]_?(key)s?(?:_?(?:${anyOf(suffixes)}|data|base))*_?$`, 'i')
/** Other keys: of rows, caches, lists and locks, or on a keyboard. */
const harmlessKey =
  /(?:^|_)(?:public|pub|primary|foreign|sort|partition|cache|hot|idempotency|object|row|index|lookup|group|map|routing|shortcut|translation|message|hash|range|natural|composite|unique|candidate|parent|query|state|answer|registry|websocket|issue|project|surrogate|dedup|config|column|field|property|json|locale|label|menu|modifier|arrow|any|press|answer|by|for|the|some)_?keys?(?:_?(?:value|data|name))?_?$|(?:mon|tur|don|hoc|joc|whis|jer|loc)keys?$/i
const passName = /(?:_pass|_PASS|_Pass|[a-z0-9]Pass|_pw|_PW|^pw)$/
const otherName = /(?:^|_)(pat|_auth|dsn|cookie|connection_?string|account_?key)_?$/i

/** Vendors whose keys have no shape of their own: only the vendor's name announces them. */
export const vendorNames =
  'adafruit airtable algolia asana atlassian beamer bitbucket bittrex cloudflare codecov cohere coinbase confluent contentful databricks datadog discord droneci dropbox etsy fastly finicity finnhub flickr freshbooks gitter gocardless heroku hubspot intercom jira kraken kucoin launchdarkly linkedin lob looker mailchimp mailgun mapbox mattermost messagebird netlify newrelic nytimes okta plaid privateai rapidapi sendbird sidekiq snyk sonar squarespace sumologic travisci trello twitch twitter yandex zendesk'.split(
    ' ',
  )
const vendors = new Set(vendorNames)

/** The verdict of a decoded name on its value; includes names that mark only some values as secrets. */
export function judgeName(name: string): NameVerdict | undefined {
  const tail = tailOf(name)
  const strong = strongTermOf(tail)
  if (strong !== undefined) return { term: strong, needs: 'any' }
  if (passName.test(tail)) return { term: 'password', needs: 'credentials' }
  if (keyName.test(tail))
    return harmlessKey.test(inWords(tail)) ? undefined : { term: 'key', needs: 'credentials' }
  const other = otherName.exec(tail)?.[1]
  if (other !== undefined) return { term: other.toLowerCase(), needs: 'credentials' }
  if (/^_?code_?$/i.test(tail) || vendors.has(tail.toLowerCase()))
    return { term: tail.toLowerCase(), needs: 'made' }
  return undefined
}

/** Caches verdicts on names, which are few and recur. */
export function nameCache<T>(judge: (name: string) => T): TextCache<T> {
  return new TextCache({ texts: 4096, length: 128 }, judge)
}
