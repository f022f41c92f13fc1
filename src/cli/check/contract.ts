import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Contract } from '../../findings/index.js'
import { parseDuration, durationForms, WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import type { Io } from '../io.js'
import { readLock, usualLock } from '../pin/lock-file.js'

/** Expectations from the command line and `wiretape.check.yaml`. */
export interface ContractOptions {
  readonly expectTool?: readonly string[]
  readonly forbidTool?: readonly string[]
  readonly maxLatency?: readonly string[]
  readonly maxErrors?: string
  readonly maxContext?: string
  /** False if every tool must be pinned. */
  readonly newTools?: boolean
  /** The lock file with the known tools. */
  readonly pin?: string
  readonly config?: string | false
}

const fileName = 'wiretape.check.yaml'
const longestFile = 1024 * 1024
const members = ['expect-tool', 'forbid-tool', 'max-latency', 'max-errors', 'max-context', 'no-new-tools']

/**
 * The expectations of the command line, before those of the file.
 *
 * @returns also the file that was read, since it decides
 * @throws WiretapeError `usage` for an invalid expectation
 */
export async function contractOf(
  options: ContractOptions,
  io: Io,
): Promise<{ readonly contract: Contract | undefined; readonly from?: string }> {
  const file = options.config === false ? undefined : await readConfig(options.config, io)
  const latencies = [...(file?.maxLatency ?? []), ...(options.maxLatency ?? [])]
  const maxErrors = options.maxErrors ?? file?.maxErrors
  const maxContext = options.maxContext ?? file?.maxContext
  const noNewTools = options.newTools === false || file?.newTools === false
  const contract: Contract = {
    expectTools: [...(file?.expectTool ?? []), ...(options.expectTool ?? [])],
    forbidTools: [...(file?.forbidTool ?? []), ...(options.forbidTool ?? [])],
    maxLatency: new Map(latencies.map(latencyOf)),
    ...(maxErrors !== undefined && { maxErrors: countIn('max-errors', maxErrors) }),
    ...(noNewTools && { knownTools: await knownTools(options.pin, io) }),
    ...(maxContext !== undefined && { maxContext: countIn('max-context', maxContext) }),
  }
  const isEmpty =
    contract.expectTools!.length === 0 && contract.forbidTools!.length === 0 && latencies.length === 0
  const hasNone = isEmpty && !noNewTools && maxErrors === undefined && maxContext === undefined
  return { contract: hasNone ? undefined : contract, ...(file && { from: file.name }) }
}

/** Tools of all pinned servers. */
async function knownTools(pin: string | undefined, io: Io): Promise<ReadonlySet<string>> {
  const pins = await readLock(pin ?? usualLock, io)
  if (!pins)
    throw new WiretapeError(
      'usage',
      `no-new-tools needs a lock file, and there is no ${escapeText(pin ?? usualLock)}`,
      {
        hint: 'create one with wiretape pin RECORDING',
      },
    )
  return new Set([...pins.values()].flatMap((server) => [...(server.get('tool')?.keys() ?? [])]))
}

function latencyOf(text: string): [tool: string, ms: number] {
  const at = text.lastIndexOf(':')
  const tool = at < 0 ? '*' : text.slice(0, at)
  const ms = parseDuration(text.slice(at + 1))
  if (ms === undefined || tool === '')
    throw new WiretapeError('usage', `max-latency ${escapeText(text)} is not a tool and a time`, {
      hint: `use the form search:2s, with ${durationForms}`,
    })
  return [tool, ms]
}

/** `20k` is 20000. */
export function countIn(option: string, text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(k|m)?$/i.exec(text) ?? []
  if (digits === undefined)
    throw new WiretapeError('usage', `${option} ${escapeText(text)} is not a number`, {
      hint: 'use a number such as 500 or 20k',
    })
  return Number(digits) * ({ k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1)
}

async function readConfig(
  named: string | undefined,
  io: Io,
): Promise<(ContractOptions & { readonly name: string }) | undefined> {
  const name = named ?? fileName
  let text
  try {
    text = await readFile(named === undefined ? join(io.cwd, fileName) : resolve(io.cwd, named), 'utf8')
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new WiretapeError('usage', `${escapeText(name)} cannot be read`, {
      hint: 'choose another file with --config',
    })
  }
  const refuse = (why: string): WiretapeError =>
    new WiretapeError('usage', `${escapeText(name)}: ${why}`, {
      hint: `known members: ${members.join(', ')}`,
    })
  if (text.length > longestFile) throw refuse('it is longer than 1 MiB')
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0, prettyErrors: true })
  } catch (error) {
    throw refuse(escapeText((error as Error).message.split('\n')[0]!))
  }
  if (value === null) return { name }
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse('it is not a mapping')
  const content = value as Record<string, unknown>
  const unknown = Object.keys(content).find((member) => !members.includes(member))
  if (unknown !== undefined) throw refuse(`it has an unknown member ${JSON.stringify(unknown)}`)
  const list = (member: string): string[] => {
    const found = content[member] ?? []
    const items = Array.isArray(found) ? found : [found]
    if (items.some((item) => typeof item !== 'string')) throw refuse(`${member} is not a list of strings`)
    return items as string[]
  }
  const scalar = (member: string): string | undefined => {
    const found = content[member]
    if (found === undefined) return undefined
    if (typeof found !== 'string' && typeof found !== 'number') throw refuse(`${member} is not a number`)
    return String(found)
  }
  const isStrict = content['no-new-tools'] ?? false
  if (typeof isStrict !== 'boolean') throw refuse('no-new-tools must be true or false')
  const [maxErrors, maxContext] = [scalar('max-errors'), scalar('max-context')]
  return {
    name,
    newTools: !isStrict,
    expectTool: list('expect-tool'),
    forbidTool: list('forbid-tool'),
    maxLatency: list('max-latency'),
    ...(maxErrors !== undefined && { maxErrors }),
    ...(maxContext !== undefined && { maxContext }),
  }
}
