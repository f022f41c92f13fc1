import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { diskReason, makeFolder, realDisk, whyNotOurs } from '../../tape/index.js'
import { authorityDays, makeAuthority, type KeyPair } from './certificates.js'

/** A certificate authority of this machine, for opening the TLS of a client that trusts it. */
export interface LocalCa extends KeyPair {
  /** File with its certificate, for users who must configure trust by hand. */
  readonly path: string
  /** Information for the user: a new authority was created, and why. */
  readonly notice?: string
}

const dayMs = 24 * 60 * 60 * 1000
/** An authority about to expire would do so during use. */
const leastLeftMs = 7 * dayMs

/**
 * The folder of the authority for these hosts: one restricted to hosts has its own folder.
 *
 * @param hosts `[]` for any
 */
export function authorityFolder(folder: string, hosts: readonly string[]): string {
  if (hosts.length === 0) return folder
  const digest = createHash('sha256')
    .update([...new Set(hosts)].toSorted().join('\n'))
    .digest('hex')
  return join(folder, `only-${digest.slice(0, 16)}`)
}

/**
 * Reads the authority of a folder, or creates it. The key never leaves the folder.
 *
 * @param hosts the only hosts it may vouch for; `[]` for any
 * @throws WiretapeError `unwritable`, `unreadable`
 */
export async function openLocalCa(folder: string, hosts: readonly string[] = []): Promise<LocalCa> {
  const keyPath = join(folder, 'ca-key.pem')
  const path = join(folder, 'ca.pem')
  try {
    makeFolder(folder, realDisk)
    refuseForeign(folder)
    const known = readPair(keyPath)
    const flaw = known && flawOf(known, keyPath)
    if (known && flaw === undefined) {
      if (readIfThere(path) !== known.certificate) replace(path, known.certificate, 0o644)
      return { ...known, path }
    }
    const made = await makeAuthority(new Date(), hosts)
    // Key and certificate in one file, so that one is never found without the other.
    if (known) replace(keyPath, made.key + made.certificate, 0o600)
    else if (!create(keyPath, made.key + made.certificate)) return await openLocalCa(folder, hosts)
    replace(path, made.certificate, 0o644)
    const notice = flaw && `${flaw}: a new certificate authority was created in ${folder}; trust it instead`
    return { ...made, path, ...(notice !== undefined && { notice }) }
  } catch (cause) {
    if (cause instanceof WiretapeError) throw cause
    const hint = 'choose another folder with --ca-dir'
    const why = diskReason(cause)
    throw new WiretapeError('unwritable', `cannot keep a certificate authority in ${folder}: ${why}`, {
      cause,
      hint,
    })
  }
}

/** A user who can change or replace the folder could make an authority of their own trusted. */
function refuseForeign(folder: string): void {
  const place = fs.realpathSync(folder)
  let why = whyNotOurs(fs.statSync(place))
  for (let at = dirname(place); why === undefined; at = dirname(at)) {
    const { mode, uid, gid } = fs.statSync(at)
    // In a folder such as /tmp, users cannot rename files of others.
    const isSticky = (mode & 0o1000) !== 0
    const above = whyNotOurs({ uid, gid, mode: isSticky ? mode & ~0o022 : mode & ~0o020 })
    if (above !== undefined) why = `its parent folder ${at} is not safe: ${above}`
    if (at === dirname(at)) break
  }
  if (why === undefined) return
  throw new WiretapeError('unwritable', `cannot keep a certificate authority in ${folder}: ${why}`, {
    hint: 'choose a folder of your own with --ca-dir',
  })
}

function readPair(keyPath: string): KeyPair | undefined {
  const text = readIfThere(keyPath)
  if (text === undefined) return undefined
  const key = pemBlock(text, 'PRIVATE KEY')
  const certificate = pemBlock(text, 'CERTIFICATE')
  try {
    if (key === undefined || certificate === undefined)
      throw new Error('the key or the certificate is missing')
    const authority = new X509Certificate(certificate)
    if (!authority.checkPrivateKey(createPrivateKey(key)))
      throw new Error('the key does not match the certificate')
    if (!authority.ca) throw new Error('the certificate is not for a certificate authority')
    return { key, certificate }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const hint = 'delete the file; wiretape then creates a new one'
    throw new WiretapeError('unreadable', `${keyPath} is not a certificate authority: ${why}`, {
      cause,
      hint,
    })
  }
}

/** Why a readable authority is no longer used. */
function flawOf({ certificate }: KeyPair, keyPath: string): string | undefined {
  const { mode, uid } = fs.statSync(keyPath)
  if (process.geteuid && uid !== process.geteuid()) return 'the key belonged to another user'
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) return 'other users could read the key'
  const { validFrom, validTo } = new X509Certificate(certificate)
  const endsMs = Date.parse(validTo)
  if (endsMs < Date.now()) return 'the certificate authority had expired'
  if (endsMs < Date.now() + leastLeftMs) return 'the certificate authority was about to expire'
  // Validity begins a day early.
  const days = (endsMs - Date.parse(validFrom)) / dayMs
  return days > authorityDays + 2
    ? `the certificate authority was valid for ${Math.round(days)} days`
    : undefined
}

function pemBlock(text: string, name: string): string | undefined {
  const begin = `-----BEGIN ${name}-----`
  const end = `-----END ${name}-----`
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  return from === -1 || to === -1 ? undefined : `${text.slice(from, to)}${end}\n`
}

/** False when another process was faster. */
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

/** Writes a draft and renames it: readers see the old file or the new one. */
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
