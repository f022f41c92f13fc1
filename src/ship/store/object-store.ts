import { WiretapeError } from '../../model/index.js'

/** A part of an object, in bytes. */
export interface Range {
  readonly at: number
  readonly length: number
}

/** What is put: bytes, or a file that is read as it is sent. */
export type Content = Uint8Array | { readonly path: string; readonly size: number }

export interface StoredObject {
  readonly key: string
  /** In bytes. */
  readonly size: number
}

/**
 * A place for objects: a folder, a bucket of S3, or a bucket of JetStream. Keys are relative paths with `/`.
 * An object is there as a whole or not at all, however its upload ended.
 *
 * Failures are `WiretapeError`s: `unreachable` (worth another attempt), `refused` (credentials, permissions, no such
 * bucket).
 */
export interface ObjectStore {
  readonly kind: 'folder' | 's3' | 'jetstream'
  /** The address for people: without credentials. */
  readonly address: string
  /**
   * Repeating a put is safe.
   *
   * @param options.ifAbsent an existing object stays as it is, and `there` is returned. Atomic for folders and S3.
   */
  put(key: string, content: Content, options?: { readonly ifAbsent?: boolean }): Promise<'stored' | 'there'>
  /** Throws `unreadable` when there is no such object. */
  get(key: string, range?: Range): AsyncIterable<Uint8Array>
  /** Undefined when there is no such object. */
  head(key: string): Promise<StoredObject | undefined>
  /** Objects whose keys start with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredObject>
  /** An object that is not there is no failure. */
  delete(key: string): Promise<void>
  /**
   * Tells the bus that a segment is complete, where the store has one. A repeated `id` is dropped by the bus.
   *
   * @param isStored whether the segment was stored just now. If the `id` is a repeated one nevertheless, a collector has taken and
   *   deleted the segment in the meantime, and gets it once more: otherwise it would stay on the bus.
   */
  announce?(subject: string, id: string, message: Uint8Array, isStored: boolean): Promise<void>
  close(): Promise<void>
}

/** All of an object or of a part of it. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all.length === 1 ? all[0]! : Buffer.concat(all)
}

/** Keys may come from a bucket that others write to: none leads out of a folder. */
export function checkKey(key: string): string {
  const parts = key.split('/')
  if (key.length > 1_024 || parts.some((part) => !/^[A-Za-z0-9_][A-Za-z0-9._=-]*$/.test(part))) {
    throw new WiretapeError('usage', `not a valid object key: ${JSON.stringify(key.slice(0, 200))}`)
  }
  return key
}

export function noSuchObject(key: string, address: string): WiretapeError {
  return new WiretapeError('unreadable', `no object ${key} in ${address}`)
}
