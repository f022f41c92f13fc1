import { pointerStep } from '../wire/index.js'
import type { Rule, RuleInfo } from './finding.js'
import { canonicalText, isMap, textAt, type Json } from './json.js'
import type { Message } from './message.js'
import { sources } from './rules/sources.js'
import { offerKinds, offersIn, type OfferKind, type ServerState } from './server-state.js'

/** Members of one definition: canonical JSON text by name. */
export type Fields = ReadonlyMap<string, string>

/** `server`: the server's self-description, under the name `''`. */
export type PinnedKind = OfferKind | 'server'

/** Definitions of one server by kind and name. A kind without a complete listing is missing. */
export type PinnedServer = ReadonlyMap<PinnedKind, ReadonlyMap<string, Fields>>

/** One difference between the pinned and the offered definitions. */
export interface Drift {
  readonly kind: PinnedKind
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  /** For a changed definition. */
  readonly field?: string
  /** Canonical JSON texts of the field. */
  readonly before?: string
  readonly after?: string
}

/** Replaces a field with redacted parts, since the tag of a redacted value belongs to one tape. */
const redacted = '"(redacted)"'
const mostDefinitions = 20_000
const mostCharacters = 32 << 20

interface Found {
  readonly kind: PinnedKind
  readonly name: string
  readonly fields: Fields
  readonly at: string
}

function foundIn(message: Message): Found[] {
  if (!message.fromServer || message.part.envelope.kind !== 'result') return []
  if (message.answers('initialize') || message.answers('server/discover')) {
    const instructions = textAt(message.result, 'instructions')
    const fields = fieldsOf(message, '/result', instructions === undefined ? {} : { instructions })
    return [{ kind: 'server', name: '', fields, at: '/result' }]
  }
  return offersIn(message).map(({ kind, name, value, at }) => ({
    kind,
    name,
    at,
    fields: fieldsOf(message, at, value),
  }))
}

function fieldsOf(message: Message, at: string, value: { readonly [name: string]: Json }): Fields {
  return new Map(
    Object.entries(value).map(([name, field]) => {
      const pointer = at + pointerStep(name)
      return [name, message.isRedactedAt(pointer) ? redacted : canonicalText(field)!]
    }),
  )
}

function serverOf(message: Message, server: ServerState): string {
  return message.part.envelope.peer?.name ?? server.name ?? ''
}

/** Joins the pages of listings. */
class Listings {
  readonly #open = new Map<PinnedKind, Map<string, Fields>>()
  #definitions = 0
  #characters = 0

  /** @returns the kind completed by this page, with all of its definitions */
  take(message: Message, found: readonly Found[]): [PinnedKind, ReadonlyMap<string, Fields>] | undefined {
    const kind = found[0]?.kind ?? offerKinds.find(({ method }) => message.answers(method))?.kind
    if (kind === undefined || !message.fromServer || !isMap(message.result)) return undefined
    const all = this.#open.get(kind) ?? new Map<string, Fields>()
    this.#open.set(kind, all)
    for (const { name, fields } of found) {
      this.#definitions += 1
      for (const text of fields.values()) this.#characters += text.length
      // A listing without an end is not pinned.
      if (this.#definitions > mostDefinitions || this.#characters > mostCharacters) return undefined
      all.set(name, fields)
    }
    if (textAt(message.result, 'nextCursor') !== undefined) return undefined
    this.#open.delete(kind)
    for (const fields of all.values()) {
      this.#definitions -= 1
      for (const text of fields.values()) this.#characters -= text.length
    }
    return [kind, all]
  }
}

/** Collects the definitions in recordings, by server name; of repeated listings, the last one. */
export interface PinTable {
  /** Observes recordings as a rule without findings. */
  readonly rule: Rule
  readonly servers: ReadonlyMap<string, PinnedServer>
}

const info: RuleInfo = {
  id: 'safety/definition-drift',
  live: true,
  pack: 'safety',
  level: 'error',
  certainty: 'exact',
  title: 'A definition differs from the pinned one.',
  help: 'You approved the pinned one. Review the change, then accept it with wiretape pin --accept.',
  source: sources.owasp,
  owasp: 'MCP03',
}

export function createPinTable(): PinTable {
  const servers = new Map<string, Map<PinnedKind, ReadonlyMap<string, Fields>>>()
  const rule: Rule = {
    info,
    begin({ server }) {
      const listings = new Listings()
      return {
        message(message) {
          const complete = listings.take(message, foundIn(message))
          if (!complete) return
          const name = serverOf(message, server)
          const known = servers.get(name) ?? new Map<PinnedKind, ReadonlyMap<string, Fields>>()
          servers.set(name, known.set(...complete))
        },
      }
    },
  }
  return { rule, servers }
}

/**
 * The rule that compares every listing with the pinned definitions.
 *
 * @param isRedacted false for messages in transit: the original of a redacted pinned text is then unknown
 */
export function definitionDrift(pinned: ReadonlyMap<string, PinnedServer>, isRedacted = true): Rule {
  return {
    info,
    begin({ server }, say) {
      const listings = new Listings()
      const unknown = new Set<string>()
      return {
        message(message) {
          const found = foundIn(message)
          const complete = listings.take(message, found)
          if (!complete && found.length === 0) return
          const name = serverOf(message, server)
          const known = pinned.get(name)
          if (!known) {
            if (!unknown.has(name) && unknown.size < 1_000)
              say(message, { message: `the server ${name} is not pinned`, what: 'not pinned' })
            unknown.add(name)
            return
          }
          for (const { kind, name: of, fields, at } of found)
            for (const drift of known.has(kind)
              ? compareFields(kind, of, known.get(kind)!.get(of), fields)
              : [])
              if (isRedacted || drift.before !== redacted) say(message, faultOf(drift, at))
          if (!complete) return
          const [kind, all] = complete
          for (const of of known.get(kind)?.keys() ?? [])
            if (!all.has(of)) say(message, faultOf({ kind, name: of, change: 'removed' }, undefined))
        },
      }
    },
  }
}

function faultOf(
  drift: Drift,
  at: string | undefined,
): { message: string; what: string; at?: string; tool?: string } {
  const { kind, name, field = '', change } = drift
  return {
    message: driftWords(drift),
    what: `${change} ${kind} ${name} ${field}`,
    ...(at !== undefined && { at }),
    ...(kind === 'tool' && { tool: name }),
  }
}

/** One difference in words, not escaped. */
export function driftWords({ kind, name, change, field, before, after }: Drift): string {
  const subject = kind === 'server' ? 'the server' : `the ${kind} ${name}`
  if (change === 'added') return `${subject} is not pinned`
  if (change === 'removed') return `${subject} is pinned but no longer offered`
  const what = before === undefined ? 'was added' : after === undefined ? 'was removed' : 'changed'
  return `${subject}: ${field} ${what}`
}

/** Differences of one server. Kinds that only one side lists are not compared. */
export function compareServers(pinned: PinnedServer, found: PinnedServer): Drift[] {
  return [...pinned].flatMap(([kind, before]) => {
    const after = found.get(kind)
    if (!after) return []
    const gone = [...before.keys()].filter((name) => !after.has(name))
    return [
      ...[...after].flatMap(([name, fields]) => compareFields(kind, name, before.get(name), fields)),
      ...gone.map((name): Drift => ({ kind, name, change: 'removed' })),
    ]
  })
}

function compareFields(kind: PinnedKind, name: string, pinned: Fields | undefined, found: Fields): Drift[] {
  if (!pinned) return [{ kind, name, change: 'added' }]
  return [...new Set([...pinned.keys(), ...found.keys()])].flatMap((field): Drift[] => {
    const [before, after] = [pinned.get(field), found.get(field)]
    if (before === after) return []
    return [
      {
        kind,
        name,
        change: 'changed',
        field,
        ...(before !== undefined && { before }),
        ...(after !== undefined && { after }),
      },
    ]
  })
}
