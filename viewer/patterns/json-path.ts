import type parse from 'jsonpath-rfc9535/parser'
import { loadedEngine } from './loaded.js'

/** Replaces `jsonpath-rfc9535/parser` in the page, as shim.ts replaces `re2js`. */
const parsePath: typeof parse = (path) => {
  const engine = loadedEngine()
  if (!engine) throw new SyntaxError('JSONPath support is still loading')
  return engine.parsePath(path)
}
export default parsePath
