// @ts-check
/**
 * The fastest JSON-RPC server in plain Node: it responds to each request line with a result of `params.size` bytes (LF
 * included). It parses no JSON: the id and the size have fixed places, see `bench/lib/requests.mjs`.
 */
import { Buffer } from 'node:buffer'

const LF = 0x0a
const ID_AT = '{"jsonrpc":"2.0","id":'.length
const ID_DIGITS = 10
const SIZE_AT = ID_AT + ID_DIGITS + ',"method":"bench/echo","params":{"size":'.length

/** Responses without their ids, by size. @type {Map<number, Buffer>} */
const templates = new Map()

/** @param {number} size */
function template(size) {
  let answer = templates.get(size)
  if (answer === undefined) {
    const head = `{"jsonrpc":"2.0","id":${'0'.repeat(ID_DIGITS)},"result":{"pad":"`
    answer = Buffer.from(`${head}${'r'.repeat(size - head.length - 4)}"}}\n`, 'latin1')
    templates.set(size, answer)
  }
  return answer
}

/** The bytes of an incomplete request. @type {Buffer[]} */
let open = []

/** @param {Buffer} line @returns {Buffer} */
function answer(line) {
  let size = 0
  for (let at = SIZE_AT, digit = line[at] ?? 0; digit >= 0x30 && digit <= 0x39; digit = line[++at] ?? 0) {
    size = size * 10 + digit - 0x30
  }
  const bytes = Buffer.from(template(size))
  line.copy(bytes, ID_AT, ID_AT, ID_AT + ID_DIGITS)
  return bytes
}

process.stdin.on('data', (/** @type {Buffer} */ chunk) => {
  const answers = []
  let start = 0
  for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
    const line = chunk.subarray(start, end)
    answers.push(answer(open.length === 0 ? line : Buffer.concat([...open, line])))
    open = []
    start = end + 1
  }
  if (start < chunk.length) open.push(chunk.subarray(start))
  if (answers.length === 0) return
  const bytes = answers.length === 1 && answers[0] ? answers[0] : Buffer.concat(answers)
  if (!process.stdout.write(bytes)) {
    process.stdin.pause()
    process.stdout.once('drain', () => process.stdin.resume())
  }
})
