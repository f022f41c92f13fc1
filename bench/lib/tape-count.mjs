// @ts-check
/** Counts the lines of a tape by kind without parsing them: the first bytes of a line give its kind. */
import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'

const LF = 0x0a
/** Bytes of a line that are enough to find its kind. */
const HEAD_BYTES = 128

/**
 * @typedef {object} TapeCount
 * @property {number} in Messages from client to server.
 * @property {number} out Messages from server to client.
 * @property {number} gaps
 * @property {boolean} closed Every file ends with an end line.
 * @property {number} bytes
 */

/**
 * @param {string} folder
 * @returns {Promise<TapeCount>} The sum over all tapes of the folder.
 */
export async function countTapes(folder) {
  const total = { in: 0, out: 0, gaps: 0, closed: true, bytes: 0 }
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  if (names.length === 0) throw new Error(`${folder} has no tape`)
  for (const name of names) {
    let last = ''
    for await (const head of lineHeads(join(folder, name), total)) {
      last = kindOf(head)
      if (last === 'in' || last === 'out') total[last]++
      else if (last === 'gap') total.gaps++
    }
    total.closed &&= last === 'end'
  }
  return total
}

/** @param {string} head @returns {string} The direction of a message; the type of another line. */
function kindOf(head) {
  const direction = /^\{"t":"[^"]*","dir":"(in|out)","raw":/.exec(head)?.[1]
  if (direction !== undefined) return direction
  const type = /^\{(?:"v":1,|"t":"[^"]*",)?"type":"([a-z]+)"/.exec(head)?.[1]
  if (type === undefined) throw new Error(`This line of a tape is of no known kind: ${head.slice(0, 120)}`)
  return type
}

/**
 * @param {string} file
 * @param {{ bytes: number }} total Its `bytes` grows by the size of the file.
 */
async function* lineHeads(file, total) {
  /** The start of a line that continues in the next chunk; empty if there is none. */
  let open = ''
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    total.bytes += chunk.length
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      yield open + chunk.toString('latin1', start, Math.min(end, start + HEAD_BYTES))
      open = ''
      start = end + 1
    }
    if (open.length < HEAD_BYTES) open += chunk.toString('latin1', start, start + HEAD_BYTES)
  }
  if (open !== '') throw new Error(`${file} ends in the middle of a line`)
}
