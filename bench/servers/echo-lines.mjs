// @ts-check
/** The server of `echo-http.mjs` on stdin and stdout. */
import { createInterface } from 'node:readline'
import { answerTo, stream } from './echo.mjs'

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const message = JSON.parse(line)
  if (message.method === 'bench/stream') stream(message, (text) => void process.stdout.write(`${text}\n`))
  else if (!process.stdout.write(`${answerTo(message)}\n`))
    await new Promise((done) => process.stdout.once('drain', done))
}
