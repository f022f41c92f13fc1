// @ts-check
/** `wiretape record --url` in front of a server. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstLine, start } from './actors.mjs'

/**
 * @param {string} cli
 * @param {string} upstream
 * @param {string} folder The folder for the tape, without other tapes.
 */
export async function startRecorder(cli, upstream, folder) {
  const actor = start(process.execPath, [cli, 'record', '--url', upstream, '--out', folder, '--quiet'])
  return {
    url: await firstLine(actor),

    /** Ends the recording. @returns {Promise<{ messages: number, text: string, problems: string[] }>} */
    async stop() {
      actor.child.kill('SIGTERM')
      const { code, err } = await actor.ended
      const problems = []
      if (code !== 0) problems.push(`the recorder ended with ${code}`)
      if (err !== '') problems.push(`the recorder said: ${err.trim()}`)
      const tapes = readdirSync(folder)
      const text = tapes.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
      const records = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const gaps = records.filter(({ type }) => type === 'gap')
      if (gaps.length > 0) problems.push(`the tape has ${gaps.length} gaps: ${gaps[0].why}`)
      if (records.at(-1)?.type !== 'end') problems.push('the tape has no end')
      return { messages: records.filter(({ type }) => type === undefined).length, text, problems }
    },
  }
}
