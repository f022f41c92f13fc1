import { WiretapeError } from '../../model/index.js'

/** A part of an object, in bytes. */
export interface Range {
  readonly at: number
  readonly length: number
}

/** Content to store: bytes, or a file that is read while it is sent. */
export type Content = Uint8Array | { readonly path: string; readonly size: number }

export interface StoredObject {
  readonly key: string
  /** Bytes. */
  readonly size: number
}

/**
 * Stores objects in a folder, an S3 bucket or a JetStream bucket. Keys are relative paths with `/`.
 * An object is complete or absent, however its upload ended.
 *
 * Failures are `WiretapeError`s: `unreachable` (worth another attempt), `refused` (credentials, permissions, no such
 * bucket).
 */
export interface ObjectStore {
  readonly kind: 'folder' | 's3' | 'jetstream'
  /** The address to display, without credentials. */
  readonly address: string
  /**
   * Repeating a put is safe.
   *
   * @param options.ifAbsent keeps an existing object and returns `there`. Atomic for folders and S3.
   */
  put(key: string, content: Content, options?: { readonly ifAbsent?: boolean }): Promise<'stored' | 'there'>
  /** Throws `unreadable` if the object does not exist. */
  get(key: string, range?: Range): AsyncIterable<Uint8Array>
  /** Undefined if the object does not exist. */
  head(key: string): Promise<StoredObject | undefined>
  /** Objects with keys that start with `prefix`, unordered. */
  list(prefix: string): AsyncIterable<StoredObject>
  /** Succeeds also if the object does not exist. */
  delete(key: string): Promise<void>
  /**
   * Announces a complete segment on the bus, if the store has one. The bus drops a repeated `id`.
   *
   * @param isStored whether the segment was stored just now. If the `id` is a repeated one nevertheless, a collector has
   *   deleted the segment in the meantime and gets it again: otherwise it would stay on the bus.
   */
  announce?(host: string, id: string, message: Uint8Array, isStored: boolean): Promise<void>
  close(): Promise<void>
}

/** All bytes of an object or range. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all.length === 1 ? all[0]! : Buffer.concat(all)
}

/** Rejects keys that lead out of a folder: other programs may write to the bucket. */
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
