// @ts-check
/** Large recordings with payloads of realistic sizes, generated. */
import { createWriteStream } from 'node:fs'
import { once } from 'node:events'

const words =
  'The quick brown fox jumps over the lazy dog (see https://example.com/page?q=1.5), 12.5 times, as foo-bar or "quoted".\n'
/** Sizes of the texts in results, in turn: most are small, a few are large. */
const sizes = [0, 120, 400, 400, 900, 1_500, 3_000, 6_000, 20_000]

/** @param {number} i */
function pair(i) {
  const request = {
    jsonrpc: '2.0',
    id: i,
    method: 'tools/call',
    params: {
      name: ['read_file', 'search', 'list_directory', 'run_query'][i % 4],
      arguments: {
        path: `/home/me/project/src/file-${i}.ts`,
        limit: 20,
        ratio: 0.25,
        tags: ['a', 'b', `t${i % 7}`],
      },
      _meta: { progressToken: i },
    },
  }
  const size = sizes[i % sizes.length] ?? 0
  const text = words.repeat(Math.ceil(size / words.length)).slice(0, size)
  const rows = Array.from({ length: i % 5 }, (_, row) => ({
    id: row,
    name: `row ${row}`,
    price: row * 1.25,
    done: row % 2 === 0,
  }))
  const response = {
    jsonrpc: '2.0',
    id: i,
    result: {
      content: [{ type: 'text', text }],
      structuredContent: { rows, total: rows.length },
      isError: i % 50 === 1,
    },
  }
  return [request, response]
}

/**
 * @param {string} path
 * @param {'jsonrpc' | 'trace-v1'} format
 * @param {number} sizeBytes
 * @returns {Promise<{ messages: number, sizeBytes: number }>}
 */
export async function writeRecording(path, format, sizeBytes) {
  const out = createWriteStream(path)
  const startMs = Date.UTC(2026, 7, 1, 10)
  const time = (/** @type {number} */ n) => new Date(startMs + n * 3).toISOString()
  let written = 0
  let messages = 0
  let text = ''
  const put = async (/** @type {string} */ line) => {
    text += `${line}\n`
    if (text.length < 1 << 18) return
    written += Buffer.byteLength(text)
    if (!out.write(text)) await once(out, 'drain')
    text = ''
  }
  if (format === 'trace-v1') {
    await put(
      JSON.stringify({
        v: 1,
        type: 'meta',
        startedAt: time(0),
        label: 'bench',
        command: ['node', 'server.js'],
      }),
    )
  }
  for (let i = 0; written + text.length < sizeBytes; i += 1) {
    for (const message of pair(i)) {
      const raw = JSON.stringify(message)
      const dir = 'method' in message ? 'in' : 'out'
      await put(format === 'jsonrpc' ? raw : `{"t":"${time(messages)}","dir":"${dir}","raw":${raw}}`)
      messages += 1
    }
  }
  if (format === 'trace-v1')
    await put(JSON.stringify({ t: time(messages), type: 'end', exitCode: 0, durationMs: messages * 3 }))
  written += Buffer.byteLength(text)
  out.end(text)
  await once(out, 'close')
  return { messages, sizeBytes: written }
}
