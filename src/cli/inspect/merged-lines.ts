import { joinCommandLine, noTime } from '../../model/index.js'

/**
 * What `convert A B OUT` says of the recordings that it merged, one a line.
 *
 * @param json as it stands in the metadata
 * @returns undefined when it is something else
 */
export function mergedLines(json: string): string[] | undefined {
  const recordings = JSON.parse(json) as unknown
  if (!Array.isArray(recordings)) return undefined
  const lines: string[] = []
  for (const recording of recordings as unknown[]) {
    if (!isObject(recording) || typeof recording['conversation'] !== 'string') return undefined
    const { conversation, startedAt, url, command } = recording
    const isTimed = typeof startedAt === 'string' && startedAt !== noTime
    const words = Array.isArray(command) ? command.filter((word) => typeof word === 'string') : []
    const facts = [
      isTimed ? `started ${startedAt.replace('T', ' ')}` : 'it says no times',
      typeof url === 'string' ? url : joinCommandLine(words),
    ]
    lines.push(`merged: ${[conversation, ...facts].filter((fact) => fact !== '').join(' · ')}`)
  }
  return lines.length === 0 ? undefined : lines
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
