/** Judges values by their look: placeholders for a secret, words of prose and code, or the secret itself. */

/** Number of characters of a value that are examined; placeholders are never longer. */
export const longestJudged = 256

const braces =
  /^(?:\[REDACTED|\$\{|\$\(|\$\[|\{\{|\$\{\{|%\{|#\{|<%|\[\[)|^\$env:|^@[A-Z_]+@$|^!(?:vault|Ref|Sub|GetAtt|secret|env)/i
const variable = /^(?:\$[A-Z_][A-Z0-9_]*|%[A-Z_][A-Z0-9_]*%|\{[A-Za-z_][\w. -]*\}|:[a-z_]+)$/
const angled = /^(?:<[^<>]{1,80}>|&lt;.{1,80}&gt;|\[[A-Za-z][A-Za-z _-]{0,60}\]|\([a-z][a-z ]{0,40}\))$/
const environment =
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|System\.getenv|Environment\.Get|std::env|Deno\.env|Bun\.env|env[.([]|ENV[.[]|getenv|secrets?\.|vars\.|config[.([]|settings[.([]|self\.|this\.|req\.|request\.|args\.|options\.)/
const masked =
  /^(?:[*.•x_X#-]{3,}|\.\.\.|…|\w{0,8}(?:\*{3,}|\.{3}|…|x{4,}|X{4,})\w{0,4}|\w{2,6}-(?:\w{1,8}-)?\.{3})$/
const standIn =
  /^(?:(?:your|insert|enter|replace|example|sample|dummy|fake|my[-_ ](?:api|secret|token|key|access))[-_ ].*|(?:change|replace)[-_ ]?(?:me|this|it)\b.*|.*[-_ ](?:here|goes[-_ ]here|placeholder)|placeholder|redacted|masked|hidden|todo|tbd|foo|bar|example|undefined|null|none|nil|nan|true|false)$/i

/** Contains a digit and no character of placeholders: most secrets. */
const plainWord = /^[A-WYZa-wyz+/=~!^]*[0-9][A-WYZa-wyz0-9+/=~!^]*$/

/** Whether a value is only a placeholder for a secret. */
export function isPlaceholder(value: string): boolean {
  if (value.length > longestJudged || plainWord.test(value)) return false
  return (
    braces.test(value) ||
    variable.test(value) ||
    angled.test(value) ||
    environment.test(value) ||
    masked.test(value) ||
    (standIn.test(value) && !/\d/.test(value))
  )
}

const status =
  /^(?:not|none|missing|required|invalid|expired|unset|undefined|empty|loaded|set|present|ok|valid|found|hidden|masked|redacted|disabled|enabled|unknown|optional|configured|provided|yes|no|on|off|true|false|null|nil|failed|accepted|rejected|revoked|refreshed|is|was|has|from|using|needed|available|string|number|boolean|bearer|text)[.,;:)!]?$/i

/** Whether a log only reports on a secret: `token: not set`, `password: required`. */
export function isStatus(word: string): boolean {
  return word.length <= 16 && status.test(word)
}

/** Folders, addresses, numbers, versions. */
const noSecret =
  /^(?:[~.]{0,2}\/|[A-Za-z]:[\\/]|[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/|[\^~<>=v]{0,2}\d+(?:[.:]\d+)+|[-+]?[\d.,:/T-]+Z?$|#[0-9a-fA-F]{3,8}$)/
/** Names of things, perhaps with a number: `my-tls-secret-1`, `created_at_2`, `user.password`, `user:42`. */
const joinedWords = /^[A-Za-z]+[0-9]{0,2}(?:[-_.:/][A-Za-z]+[0-9]{0,2})*(?:[-_.:/]?v?[0-9]{1,4})?$/
const identifier = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$/
const oneWord = /^[A-Za-z]+[0-9]{0,4}[!?.]?$/

/**
 * Whether a word looks like credentials: a password with a digit or a symbol, or a machine-made value. `plain`: a
 * word with a number is enough (`hunter2`), since the name before it is that of a password.
 */
export function looksLikeCredentials(value: string, plain: boolean): boolean {
  if (value.length < 6 || /\s/.test(value)) return false
  if (value.length > longestJudged) return /^[^\s,:;(){}]+$/.test(value.slice(0, longestJudged))
  if (noSecret.test(value) || identifier.test(value) || /[(){};]$|\(|^[[{<]|^[A-Za-z_$]\w*\[/.test(value))
    return false
  if (!/[A-Za-z]/.test(value)) return false
  if (oneWord.test(value)) return plain ? /[0-9!?]/.test(value) : isMixedCase(value)
  if (joinedWords.test(value)) return false
  return /[0-9]/.test(value) || (value.length >= 8 && /[!@#$%^&*?+=]/.test(value)) || isMixedCase(value)
}

/** Letters of both cases in no order: `qZkWbTrYpLmN…`, but not `camelCaseName`. */
function isMixedCase(value: string): boolean {
  return value.length >= 20 && (value.match(/[A-Z]/g)?.length ?? 0) >= 5 && /[A-Z]{2}/.test(value)
}

/** Whether a word is certainly machine-made: at least 16 characters, letters and digits in no order. */
export function looksMade(value: string): boolean {
  if (value.length < 16 || value.length > 4 * longestJudged || !/^[A-Za-z0-9_+/=.~:-]+$/.test(value))
    return false
  if (noSecret.test(value) || identifier.test(value) || joinedWords.test(value)) return false
  const longest = value.split(/[-_.:/+=~]/).reduce((a, b) => (b.length > a.length ? b : a), '')
  if (longest.length < 8) return false
  const digits = longest.match(/[0-9]/g)?.length ?? 0
  return (digits >= 2 && /[A-Za-z].*[A-Za-z]/.test(longest)) || isMixedCase(longest)
}

/** Whether a string literal in code is the secret itself, and not displayed text or a name. */
export function isLiteralSecret(value: string, isPassword: boolean): boolean {
  if (isPlaceholder(value)) return false
  if (/\s/.test(value))
    return /[A-Za-z][0-9]|[0-9][A-Za-z]/.test(value) && value.length >= 12 && !/[.,:?!] |[.:?!]$/.test(value)
  return looksLikeCredentials(value, true) || (isPassword && /^[a-z]{6,}$/.test(value) && !common.test(value))
}

/** Common strings after `password =` that are not passwords. */
const common =
  /^(?:password|passwd|secret|string|required|optional|hidden|text|bearer|basic|digest|plain|current|module|commonjs|public|private|object|number|boolean|hashed|reset|forgot|update|change)$/

const codeWord =
  /^(?:await|new|null|not|typeof|function|lambda|async|self|this|return|yield|pass|is|in|or|and)$/
const typeName =
  /^(?:str|string|number|int|bool|boolean|void|bytes|any|unknown|never|object|SecretStr|SecretString|String|Buffer|Text|Optional|Option|Annotated|Vec|Arc|Box|List|Array|Union|Literal|None)(?:[^\w].*)?$|^(?:[A-Z][a-z]+){2,4}[?|>)\]]*:?$/
const call =
  /^(?:[A-Za-z_$]+(?:(?:\.|::|->|\?\.)[A-Za-z_$]+)*|[A-Za-z_$]\w*(?:(?:\.|::|->|\?\.)\w+)+)(?:!?\(|\[)/
const nameOfSecret = /(?:pass_?(?:word|wd|phrase)|secret|token|api_?key|pwd)s?$/i

/** Whether a bare value in a line is code: a call, a type, a member, or a variable with the same name. */
export function looksLikeCode(value: string, name: string, separator: string): boolean {
  const bare = value.replace(/[^\w)\]]+$/, '')
  if (codeWord.test(bare) || call.test(value)) return true
  if (separator === ':' && typeName.test(value)) return true
  if (bare.startsWith(`${name}.`)) return true
  if (/^[A-Za-z_$][A-Za-z_$]*(?:(?:\.|::|->)[A-Za-z_$]+)+$/.test(bare) && /[.:>]/.test(bare))
    return (
      separator === '=' &&
      (nameOfSecret.test(bare) || environment.test(bare) || /^[a-z]\w*\.[a-z]\w*_/.test(bare))
    )
  const variable = bare.replace(/\W+$/, '')
  if (!/^[A-Za-z_]+$/.test(variable)) return false
  const last = name.slice(name.lastIndexOf('.') + 1)
  return variable === last ? /^[a-z_]+$/i.test(last) : /[_A-Z]/.test(variable) && nameOfSecret.test(variable)
}

/** Whether prose continues after a word that follows a colon: `The secret: practice every day`. */
export function goesOnAsProse(word: string, before: string, behind: string): boolean {
  if (!/^[A-Za-z]{1,14}[,.;]?$/.test(word)) return false
  const words = /^(?: [A-Za-z]{1,16}[,.;:!?]?| [0-9]{1,3}(?= [a-z])){1,2}/.exec(behind)?.[0]
  if (words === undefined || /^\s?\S*[=:]\S/.test(behind.slice(words.length))) return false
  return words.trim().includes(' ') || /(?:^|[\s(])[A-Za-z]+ $/.test(before)
}
