import { isAbsolute, resolve } from 'node:path'
import { parseDuration, parseSizeBytes, type Diagnostic } from '../model/index.js'
import { YamlFile, type Node, type YamlMember } from '../yaml/index.js'
import type { NatsPaths, Policy, RecordRule, Setting } from './policy.js'

const longestText = 2_000
const mostPatterns = 100
const natsMembers = ['creds', 'nkey', 'ca', 'cert', 'key'] as const

/** The policy must not be used if `diagnostics` has any. */
export interface ParsedPolicy {
  readonly policy: Policy
  readonly diagnostics: readonly Diagnostic[]
}

type Members = Map<string, YamlMember>

/** @param file name of the file in places */
export function parsePolicy(file: string, text: string): ParsedPolicy {
  const reader = new PolicyReader(file, text)
  return { policy: reader.read(), diagnostics: reader.yaml.diagnostics }
}

class PolicyReader {
  readonly yaml: YamlFile
  readonly #file: string

  constructor(file: string, text: string) {
    this.#file = file
    this.yaml = new YamlFile(text, { code: 'bad-policy' })
  }

  read(): Policy {
    const { top } = this.yaml
    const nothing = { files: [this.#file], record: [], redact: [], consent: [] }
    if (!top || this.yaml.kind(top) !== 'object') {
      if (this.yaml.diagnostics.length === 0)
        this.yaml.fail(top, 'a policy must be a mapping with version: 1')
      return nothing
    }
    const names = ['version', 'record', 'redaction', 'retention', 'quota', 'ship', 'consent']
    const members = this.yaml.knownMembers(top, names, 'a policy')
    if (this.yaml.number(members.get('version')?.value) !== 1)
      this.yaml.fail(members.get('version')?.key ?? top, 'the policy must have version: 1')
    const retention = this.#group(members, 'retention', ['age', 'size'])
    const quotaBytes = this.#size(members.get('quota'))
    const age = this.#time(retention.get('age'), 60_000)
    const size = this.#size(retention.get('size'))
    const consent = this.#text(members.get('consent'))
    return {
      ...nothing,
      record: this.#record(members.get('record')),
      redact: this.#redact(this.#group(members, 'redaction', ['patterns'])),
      ...(age && { retentionAgeMs: age }),
      ...(size && { retentionBytes: size }),
      ...(quotaBytes && { quotaBytes }),
      ...this.#ship(this.#group(members, 'ship', ['to', 'seal', 'compression', 'nats'])),
      consent: consent ? [consent] : [],
    }
  }

  #record(member: YamlMember | undefined): Setting<RecordRule>[] {
    if (!member) return []
    const word = this.yaml.string(member.value)
    if (word === 'all' || word === 'none') return [this.#setting(member, word)]
    if (!member.value || this.yaml.kind(member.value) !== 'object') {
      this.yaml.fail(
        member.value ?? member.key,
        'record must be all, none, or a mapping with servers and clients',
      )
      return []
    }
    const lists = this.yaml.knownMembers(member.value, ['servers', 'clients'], 'record')
    const servers = this.#texts(lists.get('servers'))
    const clients = this.#texts(lists.get('clients'))
    return [this.#setting(member, { ...(servers && { servers }), ...(clients && { clients }) })]
  }

  #redact(members: Members): Setting<string>[] {
    const member = members.get('patterns')
    if (!member) return []
    const nodes = this.#elements(member)
    return nodes.flatMap((node) => {
      const value = this.yaml.string(node)
      return value === undefined ? [] : [{ value, from: this.#place(node) }]
    })
  }

  #ship(members: Members): Partial<Policy> {
    const shipTo = this.#store(members.get('to'))
    const seal = this.#group(members, 'seal', ['size', 'after'])
    const sealBytes = this.#size(seal.get('size'))
    const sealAfterMs = this.#time(seal.get('after'), 1_000)
    const named = members.get('compression')
    const compression = this.yaml.string(named?.value)
    const isKnown = compression === 'gzip' || compression === 'zstd'
    if (named && !isKnown) this.yaml.fail(named.value ?? named.key, 'compression must be gzip or zstd')
    return {
      ...(shipTo && { shipTo }),
      ...(sealBytes && { sealBytes }),
      ...(sealAfterMs && { sealAfterMs }),
      ...(named && isKnown && { compression: this.#setting(named, compression) }),
      ...this.#nats(members),
    }
  }

  /** In the form that marks of shipped segments use. */
  #store(member: YamlMember | undefined): Setting<string> | undefined {
    const setting = this.#text(member)
    if (!member || !setting) return undefined
    const { value } = setting
    if (value.includes('@') && value.includes('://'))
      this.yaml.fail(member.value, 'the address of a store must not contain credentials')
    if (value.includes('://')) return this.#setting(member, value.replace(/\/+$/, ''))
    if (isAbsolute(value)) return this.#setting(member, resolve(value))
    this.yaml.fail(member.value, 'to must be an absolute path, s3://BUCKET or nats://HOST')
    return undefined
  }

  #nats(members: Members): Pick<Policy, 'nats'> {
    const member = members.get('nats')
    if (!member) return {}
    const group = this.#group(members, 'nats', natsMembers)
    const paths: { -readonly [K in keyof NatsPaths]: NatsPaths[K] } = {}
    for (const name of natsMembers) {
      const file = group.get(name)
      const path = this.#text(file)
      // The value may be a secret: it is not repeated.
      if (file && path && !isAbsolute(path.value))
        this.yaml.fail(file.value, `${name} must be the absolute path of a file`)
      else if (path) paths[name] = path.value
    }
    return { nats: this.#setting(member, paths) }
  }

  /** Members of a nested mapping; none if it is absent. */
  #group(members: Members, name: string, known: readonly string[]): Members {
    const member = members.get(name)
    if (!member) return new Map()
    if (!member.value || this.yaml.kind(member.value) !== 'object') {
      this.yaml.fail(member.value ?? member.key, `${name} must be a mapping with ${known.join(', ')}`)
      return new Map()
    }
    return this.yaml.knownMembers(member.value, known, name)
  }

  #text(member: YamlMember | undefined): Setting<string> | undefined {
    if (!member) return undefined
    const value = this.yaml.string(member.value)
    if (value !== undefined && value.trim() !== '' && value.length <= longestText)
      return this.#setting(member, value)
    this.yaml.fail(
      member.value ?? member.key,
      `${member.name} must be a string of up to ${longestText} characters`,
    )
    return undefined
  }

  #texts(member: YamlMember | undefined): string[] | undefined {
    if (!member) return undefined
    return this.#elements(member).map((node) => this.yaml.string(node) ?? '')
  }

  /** String nodes of a list. */
  #elements(member: YamlMember): Node[] {
    const { name, key, value } = member
    const nodes = value && this.yaml.kind(value) === 'array' ? this.yaml.elements(value) : undefined
    const wrong = nodes?.find((node) => !this.yaml.string(node))
    if (nodes && !wrong && nodes.length <= mostPatterns) return nodes
    this.yaml.fail(wrong ?? value ?? key, `${name} must be a list of up to ${mostPatterns} strings`)
    return []
  }

  #time(member: YamlMember | undefined, leastMs: number): Setting<number> | undefined {
    if (!member) return undefined
    const text = this.yaml.string(member.value) ?? ''
    const ms = /[a-z]$/.test(text) ? parseDuration(text) : undefined
    if (ms !== undefined && ms >= leastMs) return this.#setting(member, ms)
    const least = leastMs < 60_000 ? 'a second' : 'a minute'
    this.yaml.fail(
      member.value ?? member.key,
      `${member.name} must be a duration of ${least} or more, such as 30d or 1h`,
    )
    return undefined
  }

  #size(member: YamlMember | undefined): Setting<number> | undefined {
    if (!member) return undefined
    const bytes = parseSizeBytes(this.yaml.string(member.value) ?? '')
    if (bytes !== undefined && bytes >= 1000) return this.#setting(member, bytes)
    this.yaml.fail(
      member.value ?? member.key,
      `${member.name} must be a size of 1kB or more, such as 500MB or 5GB`,
    )
    return undefined
  }

  #setting<T>(member: YamlMember, value: T): Setting<T> {
    return { value, from: this.#place(member.key) }
  }

  #place(node: Node): { file: string; line: number } {
    return { file: this.#file, line: this.yaml.lineOf(node) }
  }
}
