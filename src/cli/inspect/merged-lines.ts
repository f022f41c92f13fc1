import { joinCommandLine, noTime, readMerged } from '../../model/index.js'

/**
 * Descriptions of the recordings merged by `convert A B OUT`, one per line.
 *
 * @param json from the metadata, unchanged
 * @returns undefined if it is something else
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
