import { closeSync, fstatSync, openSync, readFileSync, statSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { compileRules } from '../redaction/index.js'
import { readReason, whyNotOurs } from '../tape/index.js'
import { parsePolicy } from './parse-policy.js'
import { stricterOf, type Policy } from './policy.js'

const largestFile = 1_000_000
const sticky = 0o1000

/** The policy that binds every recording command. */
export type PolicyInForce =
  | { readonly kind: 'none' }
  | { readonly kind: 'policy'; readonly policy: Policy }
  /** Forbids every recording. */
  | { readonly kind: 'broken'; readonly why: string; readonly faults: readonly PolicyFault[] }

/** Why a file cannot be used as a policy. */
export interface PolicyFault {
  readonly file: string
  /** 1-based; null if the fault is not in the text. */
  readonly line: number | null
  readonly message: string
}

/** Files that may hold a policy. */
export interface PolicyFiles {
  readonly system: string
  /** From `WIRETAPE_POLICY`. */
  readonly own?: string
}

/** Reads both files; `own` can only make `system` stricter. Never rejects. */
export async function loadPolicy({ system, own }: PolicyFiles): Promise<PolicyInForce> {
  const first = await readOne(system, true)
  if (own === undefined) return first
  const second = await readOne(resolve(own), false)
  if (first.kind === 'broken' && second.kind === 'broken')
    return brokenBy([...first.faults, ...second.faults])
  if (first.kind === 'broken') return first
  if (second.kind !== 'policy' || first.kind === 'none') return second
  return { kind: 'policy', policy: stricterOf(first.policy, second.policy) }
}

async function readOne(file: string, mayBeMissing: boolean): Promise<PolicyInForce> {
  const broken = (message: string): PolicyInForce => brokenBy([{ file, line: null, message }])
  let text: string
  try {
    const read = readSafely(file)
    if ('unsafe' in read) return broken(`is not safe to use: ${read.unsafe}`)
    text = read.text
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (mayBeMissing && (code === 'ENOENT' || code === 'ENOTDIR')) return { kind: 'none' }
    return broken(`cannot be read: ${readReason(error)}`)
  }
  const { policy, diagnostics } = parsePolicy(file, text)
  const faults = diagnostics.map(({ at, message }) => ({ file, line: at?.line ?? 1, message }))
  for (const { value, from } of policy.redact)
    for (const { message } of (await compileRules({ policy: [value] })).diagnostics)
      faults.push({
        file,
        line: from.line,
        message: message.replace(/^policy #1/, () => `the pattern ${JSON.stringify(value.slice(0, 80))}`),
      })
  if (faults.length === 0) return { kind: 'policy', policy }
  return brokenBy(faults.toSorted((a, b) => a.line - b.line))
}

/** A policy with one or more faults. Of several, the reason names the first: it is one line. */
export function brokenBy(faults: readonly PolicyFault[]): PolicyInForce {
  const { file, line, message } = faults[0]!
  const first = line === null ? message : `is invalid, line ${line}: ${message}`
  const others = faults.length === 1 ? '' : ` (and ${faults.length - 1} more: see wiretape status --policy)`
  return { kind: 'broken', why: `the policy ${file} ${first}${others}`, faults }
}

/** Opens the file once, so that checks and reads agree. */
function readSafely(file: string): { readonly text: string } | { readonly unsafe: string } {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile()) return { unsafe: 'it is not a regular file' }
    if (found.size > largestFile) return { unsafe: 'it is larger than 1 MB' }
    const why = whyNotOurs(found)
    if (why !== undefined) return { unsafe: why }
    const folder = statSync(dirname(file))
    const folderWhy = (folder.mode & sticky) === 0 ? whyNotOurs(folder) : undefined
    if (folderWhy !== undefined) return { unsafe: `its folder: ${folderWhy}` }
    return { text: readFileSync(descriptor, 'utf8') }
  } finally {
    closeSync(descriptor)
  }
}
