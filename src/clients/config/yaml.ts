import { isAlias, isMap, isScalar, isSeq, parseDocument, type CST, type Node, type Pair } from 'yaml'
import { placeAt, type ConfigMember, type ConfigNode, type ParsedConfig } from './tree.js'

/** One YAML document. Aliases, merging maps (`<<`) and nodes with tags or anchors are opaque: never changed. */
export function parseYamlConfig(text: string): ParsedConfig {
  const document = parseDocument(text, {
    keepSourceTokens: true,
    uniqueKeys: false,
    stringKeys: false,
    logLevel: 'silent',
  })
  const error = document.errors[0]
  if (error) {
    const [reason = ''] = error.message.split('\n')
    const words = reason.replace(/ at line \d+, column \d+:?$/, '')
    return { fault: { reason: words, ...placeAt(text, error.pos[0]) } }
  }
  if (!document.contents) return { root: { ...leaf, start: text.length, end: text.length } }
  return { root: toNode(document.contents, text) }
}

const leaf = { kind: 'other', value: undefined, members: [], items: [], flow: false } as const

function toNode(node: Node, text: string): ConfigNode {
  const [start, valueEnd] = node.range ?? [0, 0]
  const end = start + text.slice(start, valueEnd).trimEnd().length
  if (isAlias(node) || node.tag !== undefined || node.anchor !== undefined) return { ...leaf, start, end }
  if (isScalar(node)) {
    // Block scalars span lines; the catalogue's values are single words.
    const isWord = typeof node.value === 'string' && !node.type?.startsWith('BLOCK')
    return { ...leaf, kind: isWord ? 'string' : 'other', start, end, value: node.value }
  }
  if (isMap(node)) {
    if (node.items.some(({ key }) => isScalar(key) && key.value === '<<')) return { ...leaf, start, end }
    const members = node.items.flatMap((pair) => memberOfPair(pair as Pair<Node, Node | null>, text))
    const value = Object.fromEntries(members.map((member) => [member.key, member.value.value]))
    return { ...leaf, kind: 'map', start, end, value, members, flow: node.flow === true }
  }
  if (!isSeq(node)) return { ...leaf, start, end }
  const source = node.srcToken as CST.BlockSequence | CST.FlowCollection | undefined
  const items = (node.items as Node[]).map((item, i) => {
    const dash = source?.items[i]?.start?.find(({ type }) => type === 'seq-item-ind')
    const value = toNode(item, text)
    return { start: dash?.offset ?? value.start, value }
  })
  return {
    ...leaf,
    kind: 'list',
    start,
    end,
    value: items.map(({ value }) => value.value),
    items,
    flow: node.flow === true,
  }
}

function memberOfPair({ key, value }: Pair<Node, Node | null>, text: string): ConfigMember[] {
  if (!isScalar(key) || !key.range) return []
  const [keyStart, keyEnd] = key.range
  const node = value === null ? { ...leaf, start: keyEnd, end: keyEnd, value: null } : toNode(value, text)
  return [{ key: String(key.value), keyStart, keyEnd, value: node }]
}
