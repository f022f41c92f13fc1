/**
 * A configuration file as nodes with offsets into its text. JSON with comments, YAML and TOML give the same
 * nodes, so that an entry is changed by splicing text and every other character stays.
 */
export interface ConfigNode {
  readonly kind: 'map' | 'list' | 'string' | 'other'
  /** Offset of the first character. */
  readonly start: number
  /** Offset after the last character; excludes white space and comments after the value. */
  readonly end: number
  /** The value as plain data; undefined if the format has none (an alias, a tag). */
  readonly value: unknown
  /** Members of a map, in file order; names may repeat. */
  readonly members: readonly ConfigMember[]
  /** List items. */
  readonly items: readonly ConfigItem[]
  /** True for a list or map with brackets; false for the indented forms of YAML and the tables of TOML. */
  readonly flow: boolean
}

export interface ConfigMember {
  readonly key: string
  /** Place of the name, with quotes. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: ConfigNode
}

export interface ConfigItem {
  /** Offset of the item; of the dash in an indented YAML list. */
  readonly start: number
  readonly value: ConfigNode
}

export type ConfigSyntax = 'json' | 'yaml' | 'toml'

export type ParsedConfig =
  | { readonly root: ConfigNode; readonly fault?: never }
  | { readonly root?: never; readonly fault: ConfigFault }

export interface ConfigFault {
  readonly reason: string
  /** Counted from 1. */
  readonly line: number
  readonly column: number
}

/** The last member with that name: the one that parsers keep. */
export function memberOf(node: ConfigNode | undefined, key: string): ConfigMember | undefined {
  return node?.members.findLast((member) => member.key === key)
}

/** The node at a path of member names. */
export function nodeAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  let node: ConfigNode | undefined = root
  for (const key of path) node = memberOf(node, key)?.value
  return node
}

export function nodeText(node: ConfigNode | undefined): string | undefined {
  return node?.kind === 'string' && typeof node.value === 'string' ? node.value : undefined
}

/** The strings of a list; undefined if it holds anything else. */
export function textsOf(node: ConfigNode | undefined): readonly string[] | undefined {
  if (node?.kind !== 'list') return undefined
  const texts = node.items.map(({ value }) => nodeText(value))
  return texts.every((text) => text !== undefined) ? texts : undefined
}

export function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
