import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { JsonMembers } from '../model/index.js'
import type { Policy, PolicyFiles, PolicyInForce, RecordedSubject } from '../policy/index.js'
import type { Quota } from '../tape/index.js'
import type { CaptureOptions, CaptureTarget } from './capture-options.js'

/** Paths of the machine's policy. No user setting affects them. */
export function policyFiles(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): PolicyFiles {
  const own = env['WIRETAPE_POLICY'] ?? ''
  return { system: systemPolicy(platform), ...(own !== '' && { own }) }
}

function systemPolicy(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return '/Library/Application Support/wiretape/policy.yaml'
  if (platform === 'win32') return 'C:\\ProgramData\\wiretape\\policy.yaml'
  return '/etc/wiretape/policy.yaml'
}

/** The policy that binds this process. Without one, nothing is loaded. Never rejects. */
export async function policyInForce(files: PolicyFiles = policyFiles()): Promise<PolicyInForce> {
  if (files.own === undefined && !mayExist(files.system)) return { kind: 'none' }
  try {
    const { loadPolicy } = await import('../policy/index.js')
    return await loadPolicy(files)
  } catch (error) {
    const message = `cannot be read: ${String(error)}`
    return {
      kind: 'broken',
      why: `the policy ${message}`,
      faults: [{ file: files.system, line: null, message }],
    }
  }
}

/** A file whose status cannot be read counts as existing. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** Options of a capture under a policy. */
export interface BoundOptions extends CaptureOptions {
  readonly quota?: Quota
}

/** Options of a capture, made as strict as the policy. */
export function boundBy(policy: Policy, options: CaptureOptions): BoundOptions {
  const { shipTo, quotaBytes, sealBytes, sealAfterMs, redact, consent } = policy
  const { maxFiles: _, ...others } = options
  const said = consent.map(({ value }) => value).join(' ')
  const maxBytes = leastOf(options.maxBytes, sealBytes?.value)
  const sealAfter = leastOf(options.sealAfterMs, sealAfterMs?.value)
  return {
    // Segments that are not yet shipped must not be deleted.
    ...(shipTo ? others : options),
    redaction: {
      ...options.redaction,
      defaults: true,
      keepDefaults: true,
      ...(redact.length > 0 && { policy: redact.map(({ value }) => value) }),
    },
    metadata: said === '' ? options.metadata : [...options.metadata, ['consent', JSON.stringify(said)]],
    ...(maxBytes !== undefined && { maxBytes }),
    ...(sealAfter !== undefined && { sealAfterMs: sealAfter }),
    ...(quotaBytes &&
      isShippedFolder(options) && {
        quota: {
          folder: options.folder,
          bytes: quotaBytes.value,
          ...(shipTo && { target: shipTo.value }),
        },
      }),
  }
}

/** Tapes elsewhere (`--out`) are never shipped: a quota that counts them could never make room. */
function isShippedFolder({ folder, registryFolder }: CaptureOptions): boolean {
  return resolve(folder) === join(dirname(resolve(registryFolder)), 'recordings')
}

function leastOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** A session's facts for the patterns of the policy. */
export function subjectOf({ label, metadata }: CaptureOptions, target: CaptureTarget): RecordedSubject {
  const client = clientIn(metadata)
  return {
    label: target.label ?? label,
    command: target.command,
    url: target.url,
    ...(client !== undefined && { client }),
  }
}

function clientIn(metadata: JsonMembers): string | undefined {
  const json = metadata.find(([name]) => name === 'client')?.[1]
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return typeof value === 'string' ? value : undefined
}
