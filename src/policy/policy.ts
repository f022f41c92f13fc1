/** Place of a setting. */
export interface PolicyPlace {
  readonly file: string
  /** 1-based. */
  readonly line: number
}

export interface Setting<T> {
  readonly value: T
  readonly from: PolicyPlace
}

/** Which sessions are recorded. */
export type RecordRule =
  | 'all'
  | 'none'
  /** One pattern of each list must match; an absent list matches any. */
  | { readonly servers?: readonly string[]; readonly clients?: readonly string[] }

/** Files with NATS credentials. */
export interface NatsPaths {
  readonly creds?: string
  readonly nkey?: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The settings in force: of one file, or the stricter of two for each setting. */
export interface Policy {
  readonly files: readonly string[]
  /** All must allow a recording. */
  readonly record: readonly Setting<RecordRule>[]
  /** RE2 patterns besides the built-in rules, which cannot be switched off. */
  readonly redact: readonly Setting<string>[]
  readonly retentionAgeMs?: Setting<number>
  readonly retentionBytes?: Setting<number>
  readonly quotaBytes?: Setting<number>
  readonly shipTo?: Setting<string>
  readonly sealBytes?: Setting<number>
  readonly sealAfterMs?: Setting<number>
  readonly compression?: Setting<'gzip' | 'zstd'>
  readonly nats?: Setting<NatsPaths>
  readonly consent: readonly Setting<string>[]
}

/** The parts of a session that the patterns of a policy match. */
export interface RecordedSubject {
  readonly label: string
  readonly command: readonly string[]
  readonly url: string | null
  /** Name of the client given to `install`. */
  readonly client?: string
}

/** The setting that forbids recording a session; undefined if none does. */
export function forbids({ record }: Policy, subject: RecordedSubject): Setting<RecordRule> | undefined {
  return record.find(({ value }) => !allows(value, subject))
}

function allows(rule: RecordRule, { label, command, url, client }: RecordedSubject): boolean {
  if (rule === 'all' || rule === 'none') return rule === 'all'
  const names = [label, command.join(' '), ...(url === null ? [] : [url])]
  const isServer = rule.servers?.some((pattern) => names.some((name) => matches(pattern, name))) ?? true
  const isClient = rule.clients?.some((pattern) => client !== undefined && matches(pattern, client)) ?? true
  return isServer && isClient
}

/** `*` matches any text. Case-sensitive. */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === text
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > text.length - last.length) return false
    at = found + part.length
  }
  return true
}

/**
 * The stricter of two policies, setting by setting. The first alone decides where segments go: another place is
 * not stricter, only different.
 */
export function stricterOf(system: Policy, own: Policy): Policy {
  const { shipTo, compression, nats } = system
  return {
    files: [...system.files, ...own.files],
    record: [...system.record, ...own.record],
    redact: [...system.redact, ...own.redact],
    ...smallest('retentionAgeMs', system, own),
    ...smallest('retentionBytes', system, own),
    ...smallest('quotaBytes', system, own),
    ...smallest('sealBytes', system, own),
    ...smallest('sealAfterMs', system, own),
    ...(shipTo && { shipTo }),
    ...(compression && { compression }),
    ...(nats && { nats }),
    consent: [...system.consent, ...own.consent],
  }
}

type Numbers = 'retentionAgeMs' | 'retentionBytes' | 'quotaBytes' | 'sealBytes' | 'sealAfterMs'

function smallest(name: Numbers, a: Policy, b: Policy): Partial<Policy> {
  const [one, other] = [a[name], b[name]]
  const less = one && other ? (other.value < one.value ? other : one) : (one ?? other)
  return less ? { [name]: less } : {}
}
