import { basename } from 'node:path'
import { z } from 'zod'
import { WiretapeError } from '../../model/index.js'
import { rowJson } from '../inspect/json.js'
import { mergedRows } from '../inspect/rows.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings } from '../recordings.js'
import { runLs } from '../run/ls.js'
import { runSearch } from '../run/search.js'
import { fitting, type Found } from './answer.js'
import { captureIo } from './captured-io.js'
import { outputRedactor, redactRow, visible } from './safe.js'
import { hitShape, messageShape, recordingShape } from './shapes.js'
import { cursor, defineTool, recordingName, startOf, type Tool, type ToolContext } from './tool.js'

const listRecordings = defineTool({
  name: 'list_recordings',
  title: 'List recordings',
  about: z.object({ recordings: z.int() }),
  item: recordingShape,
  description:
    'Lists the recorded MCP sessions, newest first: name, server, client, messages, errors, duration. Start here.',
  input: z.strictObject({
    server: z.string().optional().describe('Only recordings whose server name or label contains this text'),
    since: z.string().optional().describe('Only recordings since then: 7d, 12h, 2026-11-20'),
    cursor,
  }),
  async run({ server, since, cursor: at }, { io, folder }) {
    const captured = captureIo(io, folder)
    const options = {
      json: true,
      ...(server !== undefined && { server }),
      ...(since !== undefined && { since }),
    }
    await runLs(undefined, options, captured.io)
    const rows = (JSON.parse(captured.text()) as Record<string, unknown>[]).toReversed()
    const from = startOf(at)
    // Clients know only names, no paths; short names would change with each new recording.
    const items = rows
      .slice(from)
      .map(({ files, ...row }) => ({ ...row, name: basename((files as string[])[0]!) }))
    return { about: { recordings: rows.length }, items, from }
  },
})

const findMessages = defineTool({
  name: 'find_messages',
  title: 'Find messages',
  about: z.object({ notRead: z.array(z.string()).optional() }),
  item: hitShape,
  description:
    'Finds messages in all recordings, or in one, newest recording first. The filter has words, or conditions such as ' +
    'tool:fetch, method:tools/call, is:error, status:error, latency:>1s; "-" negates, "or" combines. Each item has the ' +
    'recording, the message number (sequence) and a snippet.',
  input: z.strictObject({
    filter: z.string().min(1).max(2000).describe('For example: tool:fetch is:error'),
    recording: recordingName.optional(),
    since: z.string().optional().describe('Only messages since then: 7d, 12h, 2026-11-20'),
    cursor,
  }),
  async run({ filter, recording, since, cursor: at }, { io, folder, budget }) {
    const from = startOf(at)
    const items: unknown[] = []
    let passed = 0
    let taken = 0
    let isFull = false
    const captured = captureIo(io, folder, (line) => {
      if ((passed += 1) <= from) return true
      isFull = taken > budget
      if (isFull) return false
      taken += line.length
      const {
        version: _version,
        files: _files,
        match: _match,
        ...item
      } = JSON.parse(line) as Record<string, unknown>
      items.push(item)
      return true
    })
    const options = {
      jsonl: true,
      ...(recording !== undefined && { in: [recording] }),
      ...(since !== undefined && { since }),
    }
    const redactor = outputRedactor()
    await runSearch([filter], options, captured.io, (row) => redactRow(row, redactor))
    const skipped = captured.complaints.length > 0 ? { notRead: captured.complaints } : {}
    return { about: skipped, items, from, hasMore: isFull }
  },
})

const getMessage = defineTool({
  name: 'get_message',
  title: 'Get one message',
  about: z.looseObject({ totalChars: z.int(), nextOffset: z.int().nullable() }),
  item: messageShape,
  description:
    'Returns one message of a recording: its properties and its JSON text. A long text is returned in pieces: pass ' +
    'nextOffset of the result as offset.',
  input: z.strictObject({
    recording: recordingName,
    number: z.int().min(0).describe('Message number: sequence in find_messages'),
    offset: z.int().min(0).default(0).describe('Number of characters of the text to skip'),
  }),
  run: messageIn,
})

/** Part of the budget besides the message's text. */
const factsBytes = 1500

async function messageIn(
  { recording, number, offset }: { recording: string; number: number; offset: number },
  { io, folder, budget }: ToolContext,
): Promise<Found> {
  const place = { ...io, cwd: folder }
  const { recordings, close } = await loadRecordings([await recordingPath(recording, place)], folder)
  try {
    for await (const row of mergedRows(recordings)) {
      if (row.seq !== number) continue
      const shown = redactRow(row, outputRedactor())
      const facts = JSON.parse(rowJson(shown, recordings, false)) as Record<string, unknown>
      const text = visible(shown.raw) as string
      const piece = fitting(text.slice(offset), budget - factsBytes)
      const end = offset + piece.length
      const about = {
        totalChars: text.length,
        nextOffset: end < text.length ? end : null,
        ...(end < text.length && { more: `Call again with "offset": ${end} for the rest of the text.` }),
      }
      return { about, items: [{ ...facts, recording, payload: piece }], from: 0 }
    }
  } finally {
    await close()
  }
  throw new WiretapeError('usage', `there is no message ${number} in ${recording}`, {
    hint: 'find_messages returns message numbers',
  })
}

export const readingTools: readonly Tool[] = [listRecordings, findMessages, getMessage]
