// @ts-check
/**
 * The baseline of reading: parses each line and discards it.
 * Usage: node bare-lines.mjs FILE
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const [file = ''] = process.argv.slice(2)
let lines = 0
for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
  JSON.parse(line)
  lines += 1
}
console.log(lines)
