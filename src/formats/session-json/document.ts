import {
  createJsonPieces,
  type JsonPath,
  type JsonPiece,
  type JsonPieces,
  type JsonPiecesOptions,
} from '../../wire/index.js'
import type { Input } from '../format.js'

/** A pass over a session file: objects and arrays to be opened, and values to be skipped. */
export interface Walk {
  opens(path: JsonPath, kind: 'object' | 'array'): boolean
  skips(path: JsonPath): boolean
}

/** The values of a session file, as its bytes arrive. */
export function piecesOf(which: Walk & Pick<JsonPiecesOptions, 'marked' | 'take'>): JsonPieces {
  return createJsonPieces({ ...which, resume })
}

/** The values in chunks of bytes. */
export async function* piecesIn(
  input: Pick<Input, 'bytes'>,
  pieces: JsonPieces,
): AsyncGenerator<JsonPiece[], void, undefined> {
  for await (const chunk of input.bytes()) yield pieces.push(chunk)
  yield pieces.end()
}

/** The values of a session file, in file order. */
export async function* walk(
  input: Pick<Input, 'bytes'>,
  which: Parameters<typeof piecesOf>[0],
): AsyncGenerator<JsonPiece, void, undefined> {
  for await (const found of piecesIn(input, piecesOf(which))) yield* found
}

/** A broken message ends where the next begins, or where `metadata` follows the last. */
function resume(path: JsonPath): { element: string; after?: string } | undefined {
  if (path.length === 1 && path[0] === 'messages') return { element: 'proxy_id', after: 'metadata' }
  return isNotes(path) ? { element: 'at' } : undefined
}

/** `metadata.wiretape.lines` itself. */
export function isNotes(path: JsonPath): boolean {
  return path.length === 3 && path[0] === 'metadata' && path[1] === 'wiretape' && path[2] === 'lines'
}

/** `messages`, one by one. */
export const messagesOnly: Walk = {
  opens: (path, kind) => path.length === 0 || isMessages(path, kind),
  skips: ([name]) => name !== 'messages',
}

/** `metadata.wiretape.lines`, one by one. */
export const notesOnly: Walk = {
  opens: (path, kind) => path.length === 0 || isMessages(path, kind) || isInMetadata(path, kind),
  skips: (path) => path.length !== 4 || !isNotes(path.slice(0, 3)),
}

export function isMessages(path: JsonPath, kind: 'object' | 'array'): boolean {
  return path.length === 1 && path[0] === 'messages' && kind === 'array'
}

/** The containers to be opened on the path to the notes, and the notes. */
export function isInMetadata(path: JsonPath, kind: 'object' | 'array'): boolean {
  if (path[0] !== 'metadata') return false
  if (isNotes(path)) return kind === 'array'
  return kind === 'object' && (path.length === 1 || (path.length === 2 && path[1] === 'wiretape'))
}
