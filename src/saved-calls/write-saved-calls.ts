import { isMap, isScalar, isSeq, parseDocument, visit, type Document, type Node } from 'yaml'
import type { CallToSave } from './make-saved-call.js'

/** A file of saved calls to add to. Its content, including comments, stays. */
export interface FileOfCalls {
  /** Adds a call; returns its unique name. */
  add(call: CallToSave): string
  text(): string
}

/** Large whole numbers keep their digits. */
const exact = { intAsBigInt: true }

/**
 * @param text of the file; empty for a new one
 * @returns undefined if it is no file of saved calls
 */
export function addToFile(text: string): FileOfCalls | undefined {
  const isNew = text.trim() === ''
  const document: Document = parseDocument(isNew ? 'calls: []' : text, exact)
  const { contents } = document
  const calls = isMap(contents) ? contents.get('calls') : undefined
  if (document.errors.length > 0 || !isMap(contents) || !isSeq(calls)) return undefined
  const list = calls
  list.flow = false

  function nameFor(title: string): string {
    const names = list.items.map((item) => (isMap(item) ? item.get('name') : undefined))
    // A name must be one line and not a number.
    const plain =
      title
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 150) || 'call'
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? plain : `${plain} ${number}`
      if (!names.includes(name)) return name
    }
  }

  return {
    add({ server, request, expect, title }) {
      const name = nameFor(title)
      if (list.items.length === 0 && !document.has('server')) {
        document.delete('calls')
        document.set('server', nodeOf(server))
        document.set('calls', list)
      }
      const isShared = JSON.stringify(document.toJS()?.server) === server
      const members = [
        `"name":${JSON.stringify(name)}`,
        ...(isShared ? [] : [`"server":${server}`]),
        `"request":${request}`,
        ...(expect === '{}' ? [] : [`"expect":${expect}`]),
      ]
      list.add(nodeOf(`{${members.join(',')}}`))
      return name
    },
    text: () => document.toString({ lineWidth: 0 }),
  }
}

/** JSON as a person would write it in YAML; numbers keep their digits. */
function nodeOf(json: string): Node {
  const { contents } = parseDocument(json, exact)
  visit(contents, {
    Collection: (_, node) => {
      node.flow = node.items.length === 0
    },
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string') delete node.type
    },
  })
  return contents!
}
