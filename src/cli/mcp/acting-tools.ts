import { basename } from 'node:path'
import { z } from 'zod'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { isOrigin } from '../../tape/index.js'
import { originKeyIn } from '../keys.js'
import { recordedTarget } from '../recorded-target.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings } from '../recordings.js'
import { runCall } from '../run/call.js'
import { runReplayCommand } from '../run/replay.js'
import type { ReplayOptions } from '../run/replay-options.js'
import { captureIo } from './captured-io.js'
import { callShape, comparisonShape, offerShape } from './shapes.js'
import { cursor, defineTool, recordingName, startOf, type Tool, type ToolContext } from './tool.js'

const timeoutMs = z
  .int()
  .min(100)
  .max(120_000)
  .default(10_000)
  .describe('Timeout for each response, in milliseconds')

/** The server of the last session of a recording of this user: its command, or its URL. */
async function serverOf(
  recording: string,
  { io, folder }: ToolContext,
): Promise<{ readonly command: readonly string[]; readonly url?: string }> {
  const path = await recordingPath(recording, { ...io, cwd: folder })
  const { recordings, close } = await loadRecordings([path], folder)
  try {
    const session = recordings.at(-1)!.fold.sessions.at(-1)!
    const { id, command, url, origin } = session
    const key = originKeyIn(io.dataFolder)
    if (key === undefined || !isOrigin(key, { session: id, command, url }, origin))
      throw new WiretapeError(
        'usage',
        `cannot verify that ${escapeText(recording)} was recorded on this machine`,
        {
          hint: 'its command is not run for an agent; ask a person to run wiretape replay',
        },
      )
    return { command: [], ...recordedTarget(session, [], recording) }
  } finally {
    await close()
  }
}

const callTool = defineTool({
  name: 'call_tool',
  title: 'Call a tool of a recorded server',
  acts: true,
  about: z.object({ recording: z.string().nullable().describe('Name of the recording of this call') }),
  item: callShape,
  description:
    'Starts the server of a recording, or connects to its URL, and calls one of its tools. Records the call. The only item is the ' +
    'result or the error.',
  input: z.strictObject({
    recording: recordingName,
    tool: z.string().min(1).max(500),
    arguments: z.record(z.string(), z.unknown()).default({}),
    timeoutMs,
  }),
  async run({ recording, tool, arguments: given, timeoutMs: timeout }, context) {
    const { command, ...address } = await serverOf(recording, context)
    const captured = captureIo(context.io, context.folder)
    let made: string | null = null
    const options = {
      json: true,
      timeout,
      signal: context.signal,
      out: context.folder,
      onTape: (path: string) => void (made = basename(path)),
      ...address,
    }
    try {
      await runCall([tool, JSON.stringify(given)], command, options, captured.io)
    } catch (problem) {
      if (!(problem instanceof WiretapeError) || made === null) throw problem
      throw new WiretapeError(problem.code, problem.message, {
        hint: `recorded as ${String(made)}`,
        cause: problem,
      })
    }
    const { result, error } = JSON.parse(captured.text()) as { result?: unknown; error?: unknown }
    const item = result === undefined ? { error } : { result }
    return { about: { recording: made }, items: [item], from: 0 }
  },
})

/** Defaults of `wiretape replay`. */
const usual = {
  json: true,
  handshake: true,
  unanswered: 'error',
  concurrency: 'one',
  pace: Infinity,
  repeat: 1,
  parallel: 1,
  compareFile: false,
} as const satisfies Partial<ReplayOptions>

const replay = defineTool({
  name: 'replay',
  title: 'Replay a recording',
  acts: true,
  about: z.object({ recording: z.string(), same: z.boolean(), counts: z.record(z.string(), z.int()) }),
  item: z.union([comparisonShape, offerShape]),
  description:
    'Starts the server of a recording, or connects to its URL, sends the recorded client messages again, and compares the ' +
    'responses. Items are the exchanges that differ, then the changes of tools, prompts and resources.',
  input: z.strictObject({
    recording: recordingName,
    filter: z.string().min(1).max(2000).optional().describe('Send only the client messages that match'),
    timeoutMs,
    cursor,
  }),
  async run({ recording, filter, timeoutMs: timeout, cursor: at }, context) {
    const { command, ...address } = await serverOf(recording, context)
    const captured = captureIo(context.io, context.folder)
    const options: ReplayOptions = {
      ...usual,
      timeout,
      signal: context.signal,
      ...(filter !== undefined && { filter }),
      ...address,
    }
    await runReplayCommand(recording, command, options, captured.io)
    const { exchanges, offers, same, counts } = JSON.parse(captured.text()) as {
      exchanges: { verdict: string }[]
      offers: unknown[]
      same: boolean
      counts: Record<string, number>
    }
    const from = startOf(at)
    const differing = exchanges.filter(({ verdict }) => verdict !== 'same')
    const items = [...differing, ...offers].slice(from)
    return { about: { recording, same, counts }, items, from }
  },
})

/** Require `--allow-run`, since they run commands from recordings. */
export const actingTools: readonly Tool[] = [callTool, replay]
