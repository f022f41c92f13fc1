import type { Dialect } from './catalogue/index.js'
import { memberOf, nodeAt, nodeText, textsOf, type ConfigNode } from './config/index.js'

/** One server in a configuration file. */
export interface ServerEntry {
  readonly name: string
  readonly node: ConfigNode
  readonly launch: Launch
}

/** How a client reaches a server. */
export type Launch =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] }
  | {
      readonly kind: 'remote'
      readonly url: string
      readonly headers: readonly (readonly [string, string])[]
    }
  | { readonly kind: 'other'; readonly reason: string }

/** Servers at a path of member names: members of a map, or list items with a `name`. */
export function readEntries(root: ConfigNode, path: readonly string[], dialect: Dialect): ServerEntry[] {
  const node = nodeAt(root, path)
  if (node?.kind === 'list') {
    return node.items.flatMap(({ value }) => {
      const name = nodeText(memberOf(value, 'name')?.value)
      return name === undefined ? [] : [{ name, node: value, launch: readLaunch(value, dialect) }]
    })
  }
  if (node?.kind !== 'map') return []
  // Clients use the last of repeated names.
  const names = [...new Set(node.members.map(({ key }) => key))]
  return names.flatMap((name) => {
    const value = memberOf(node, name)!.value
    return isGroup(value, dialect) ? [] : [{ name, node: value, launch: readLaunch(value, dialect) }]
  })
}

/** A map of servers in the place of a server: `mcp.servers` beside `mcp.NAME`. */
function isGroup(node: ConfigNode, dialect: Dialect): boolean {
  if (node.kind !== 'map' || memberOf(node, dialect.command)) return false
  return node.members.length > 0 && node.members.every(({ value }) => value.kind === 'map')
}

function readLaunch(node: ConfigNode, dialect: Dialect): Launch {
  if (node.kind !== 'map') return other('its entry is not a map of plain values')
  const command = memberOf(node, dialect.command)?.value
  if (command) return dialect.args === null ? ofList(command) : ofPair(command, node, dialect.args)
  const urlMember = dialect.urls.map((key) => memberOf(node, key)).find((member) => member !== undefined)
  if (!urlMember) return other(`it has neither ${dialect.command} nor ${dialect.urls[0]}`)
  const url = nodeText(urlMember.value)
  if (url === undefined) return other(`${urlMember.key} is not a string`)
  const headers = memberOf(node, dialect.headers)?.value
  if (headers && headers.kind !== 'map') return other(`${dialect.headers} is not a map`)
  const pairs: (readonly [string, string])[] = []
  for (const { key, value } of headers?.members ?? []) {
    const text = nodeText(value)
    if (text === undefined) return other(`the header ${key} is not a string`)
    pairs.push([key, text])
  }
  return { kind: 'remote', url, headers: pairs }
}

function ofList(node: ConfigNode): Launch {
  const [command, ...args] = textsOf(node) ?? []
  return command === undefined
    ? other('its command is not a list of strings')
    : { kind: 'stdio', command, args }
}

function ofPair(node: ConfigNode, entry: ConfigNode, argsKey: string): Launch {
  const command = nodeText(node)
  if (command === undefined || command === '') return other('its command is not a string')
  const args = memberOf(entry, argsKey)?.value
  const texts = args ? textsOf(args) : []
  if (!texts) return other(`${argsKey} is not a list of strings`)
  return { kind: 'stdio', command, args: texts }
}

function other(reason: string): Launch {
  return { kind: 'other', reason }
}

/** The variables that an entry gives its server. */
export function entryEnv(node: ConfigNode, dialect: Dialect): Record<string, string> {
  const members = memberOf(node, dialect.env)?.value.members ?? []
  return Object.fromEntries(
    members.flatMap(({ key, value }) => (typeof value.value === 'string' ? [[key, value.value]] : [])),
  )
}

/** The working directory that an entry gives its server. */
export function entryCwd(node: ConfigNode): string | undefined {
  return nodeText((memberOf(node, 'cwd') ?? memberOf(node, 'working_directory'))?.value)
}
