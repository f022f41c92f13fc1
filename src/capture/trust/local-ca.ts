import { createPrivateKey, X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { diskReason, makeFolder, realDisk } from '../../tape/index.js'
import { makeAuthority, type KeyPair } from './certificates.js'

/** A certificate authority of this machine, by which TLS is opened for a client that trusts it. */
export interface LocalCa extends KeyPair {
  /** Its certificate as a file, for those who have to be told by hand. */
  readonly path: string
  /** What the user should know: it was made anew, and why. */
  readonly notice?: string
}

const dayMs = 24 * 60 * 60 * 1000
/** What is about to end would end while it is used. */
const leastLeftMs = 7 * dayMs

/**
 * Reads the authority of a folder, or makes it. The key never leaves the folder.
 *
 * @throws WiretapeError `unwritable`, `unreadable`
 */
export async function openLocalCa(folder: string): Promise<LocalCa> {
  const keyPath = join(folder, 'ca-key.pem')
  const path = join(folder, 'ca.pem')
  try {
    makeFolder(folder, realDisk)
    const known = readPair(keyPath)
    const flaw = known && flawOf(known, keyPath)
    if (known && flaw === undefined) {
      if (readIfThere(path) !== known.certificate) replace(path, known.certificate, 0o644)
      return { ...known, path }
    }
    const made = await makeAuthority(new Date())
    // Key and certificate in one file: nobody ever finds one without the other.
    if (known) replace(keyPath, made.key + made.certificate, 0o600)
    else if (!create(keyPath, made.key + made.certificate)) return await openLocalCa(folder)
    replace(path, made.certificate, 0o644)
    const notice = flaw && `${flaw}: a new certificate authority was made in ${folder}, trust that instead`
    return { ...made, path, ...(notice !== undefined && { notice }) }
  } catch (cause) {
    if (cause instanceof WiretapeError) throw cause
    const hint = '--ca-dir names another folder'
    const why = diskReason(cause)
    throw new WiretapeError('unwritable', `cannot keep a certificate authority in ${folder}: ${why}`, {
      cause,
      hint,
    })
  }
}

function readPair(keyPath: string): KeyPair | undefined {
  const text = readIfThere(keyPath)
  if (text === undefined) return undefined
  const key = pemBlock(text, 'PRIVATE KEY')
  const certificate = pemBlock(text, 'CERTIFICATE')
  try {
    if (key === undefined || certificate === undefined) throw new Error('a part is missing')
    const authority = new X509Certificate(certificate)
    if (!authority.checkPrivateKey(createPrivateKey(key))) throw new Error('key and certificate differ')
    if (!authority.ca) throw new Error('it is no certificate authority')
    return { key, certificate }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const hint = 'delete it to have a new one made'
    throw new WiretapeError('unreadable', `${keyPath} is no certificate authority: ${why}`, { cause, hint })
  }
}

/** Why an authority that can be read is not used any more. */
function flawOf({ certificate }: KeyPair, keyPath: string): string | undefined {
  const { mode } = fs.statSync(keyPath)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) return 'others could read the key'
  const endsMs = Date.parse(new X509Certificate(certificate).validTo)
  if (endsMs < Date.now()) return 'the certificate authority had expired'
  return endsMs < Date.now() + leastLeftMs ? 'the certificate authority was about to expire' : undefined
}

function pemBlock(text: string, name: string): string | undefined {
  const begin = `-----BEGIN ${name}-----`
  const end = `-----END ${name}-----`
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  return from === -1 || to === -1 ? undefined : `${text.slice(from, to)}${end}\n`
}

/** False when somebody else was faster. */
function create(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}.new`
  fs.writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
  try {
    fs.linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

/** Beside and renamed: readers see the old file or the new one. */
export function replace(path: string, text: string, mode: number): void {
  const draft = `${path}.${process.pid}.new`
  fs.rmSync(draft, { force: true })
  fs.writeFileSync(draft, text, { mode, flag: 'wx' })
  fs.renameSync(draft, path)
}

export function readIfThere(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
