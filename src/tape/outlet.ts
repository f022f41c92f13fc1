import fs, { type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** A pipe, a device or an open descriptor: data can only be written through, not replaced. */
export interface Outlet {
  /** Own descriptor, when the path names one. */
  readonly descriptor?: number
  readonly isFile: boolean
}

/** Data written to it cannot be undone. */
export interface OpenOutlet {
  /** Resolves when all bytes were accepted. */
  write(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

const standardDescriptors: Readonly<Record<string, number>> = { '/dev/stdout': 1, '/dev/stderr': 2 }

/** Undefined for a file, a folder, and a missing path. */
export async function outletAt(path: string): Promise<Outlet | undefined> {
  const descriptor = descriptorOf(path)
  const info = descriptor === undefined ? await stat(path).catch(() => undefined) : statOf(descriptor)
  if (!info || info.isDirectory()) return undefined
  if (descriptor !== undefined) return { descriptor, isFile: info.isFile() }
  return info.isFile() ? undefined : { isFile: false }
}

/** @throws errors of the file system */
export async function openOutlet(path: string, { descriptor, isFile }: Outlet): Promise<OpenOutlet> {
  // A file opened by a shell has a write position, which opening it again would lose.
  if (descriptor !== undefined && isFile) {
    return { write: (bytes) => writeAll(descriptor, bytes), close: async () => undefined }
  }
  const file = await open(path, 'w')
  return { write: (bytes) => file.writeFile(bytes), close: () => file.close() }
}

/** The descriptor of `/dev/stdout`, `/dev/fd/3` and the like. */
export function descriptorOf(path: string): number | undefined {
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1]
  return number === undefined ? standardDescriptors[path] : Number(number)
}

function statOf(descriptor: number): Stats | undefined {
  try {
    return fs.fstatSync(descriptor)
  } catch {
    return undefined
  }
}

/** Writes all bytes at the descriptor's position. */
export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await writeSome(descriptor, bytes.subarray(at, at + mostAtOnce))
}
/** Node refuses to write 2 GiB at once. */
const mostAtOnce = 1 << 30

function writeSome(descriptor: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(descriptor, bytes, (error, written) => {
      if (error) reject(error)
      else resolve(written)
    })
  })
}
