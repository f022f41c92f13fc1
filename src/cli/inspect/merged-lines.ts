import { joinCommandLine, noTime, readMerged } from '../../model/index.js'

/**
 * What `convert A B OUT` says of the recordings that it merged, one a line.
 *
 * @param json as it stands in the metadata
 * @returns undefined when it is something else
 */
export function mergedLines(json: string): string[] | undefined {
  return readMerged(json)?.map(({ conversation, startedAt, url, command }) => {
    const isTimed = startedAt !== undefined && startedAt !== noTime
    const facts = [
      isTimed ? `started ${startedAt.replace('T', ' ')}` : 'no times recorded',
      url ?? joinCommandLine(command),
    ]
    return `merged: ${[conversation, ...facts].filter((fact) => fact !== '').join(' · ')}`
  })
}
