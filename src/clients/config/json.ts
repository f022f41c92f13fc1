import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { placeAt, type ConfigNode, type ParsedConfig } from './tree.js'

/** JSON, with the comments and trailing commas that many clients accept. */
export function parseJsonConfig(text: string): ParsedConfig {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false })
  const error = errors[0]
  if (error || !root) {
    const reason = error ? wordsOf(printParseErrorCode(error.error)) : 'the file is empty'
    return { fault: { reason, ...placeAt(text, error?.offset ?? 0) } }
  }
  return { root: toNode(root) }
}

/** `PropertyNameExpected` becomes `property name expected`. */
function wordsOf(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

function toNode(node: Node): ConfigNode {
  const members =
    node.type === 'object'
      ? (node.children ?? []).flatMap(({ children }) => {
          const [key, value] = children ?? []
          if (!key || !value) return []
          return [
            {
              key: String(key.value),
              keyStart: key.offset,
              keyEnd: key.offset + key.length,
              value: toNode(value),
            },
          ]
        })
      : []
  const items =
    node.type === 'array'
      ? (node.children ?? []).map((child) => ({ start: child.offset, value: toNode(child) }))
      : []
  const kinds = { object: 'map', array: 'list', string: 'string' } as const
  return {
    kind: node.type in kinds ? kinds[node.type as keyof typeof kinds] : 'other',
    start: node.offset,
    end: node.offset + node.length,
    value:
      node.type === 'object'
        ? Object.fromEntries(members.map(({ key, value }) => [key, value.value]))
        : node.type === 'array'
          ? items.map(({ value }) => value.value)
          : node.value,
    members,
    items,
    flow: true,
  }
}
