// @ts-check
// Usage: node onlooker-process.mjs FOLDER COUNT
// Attaches COUNT onlookers to the capture that is registered in FOLDER, prints a line when they are there, and reads
// until the capture ends.
import { readdirSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'

const [folder = '', count = '1'] = process.argv.slice(2)

function socketPath() {
  try {
    for (const name of readdirSync(folder)) {
      const entry = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      if (typeof entry.socket === 'string') return entry.socket
    }
  } catch {
    // The file does not exist yet or is incomplete.
  }
  return undefined
}

let path = socketPath()
while (path === undefined) {
  await new Promise((resolve) => setTimeout(resolve, 5))
  path = socketPath()
}
const attached = Array.from({ length: Number(count) }, () => {
  const socket = net.connect(path)
  socket.on('error', () => undefined)
  socket.write('{"type":"hello","protocol":1,"role":"onlooker"}\n{"type":"subscribe","id":1,"from":"now"}\n')
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      if (chunk.includes('"type":"live"')) resolve(undefined)
    })
  })
})
await Promise.all(attached)
console.log('attached')
