import { resolve } from 'node:path'
import { generateTests, type About, type RecordedTalk, type TestKind } from '../../codegen/index.js'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { replaceFile } from '../../tape/index.js'
import { settingsOf } from '../compare/settings.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { prepareSieve } from '../inspect/sieve.js'
import { mergedRows } from '../inspect/rows.js'
import { outputName, refuseExisting } from '../output.js'
import { recordedTarget } from '../recorded-target.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'

export interface CodegenOptions {
  readonly to: TestKind
  readonly filter?: string
  readonly out?: string
  readonly force?: boolean
  readonly client: 'mcp' | 'plain'
  readonly compareFile?: string | false
}

/** Most requests that wait for their responses. */
const mostTalks = 5_000

export async function runCodegen(
  named: string,
  command: readonly string[],
  options: CodegenOptions,
  io: Io,
): Promise<number> {
  const name = await recordingPath(named, io)
  const out = outputName(options.out ?? '-')
  if (out !== '-') await refuseExisting(out, io.cwd, options.force)
  const settings = await settingsOf(
    { ...(options.compareFile !== undefined && { compareFile: options.compareFile }) },
    name,
    io,
  )
  const maker = options.filter === undefined ? undefined : await prepareSieve(options.filter)
  const loaded = await loadRecordings([name], io.cwd, maker?.watch)
  try {
    const [recording] = loaded.recordings as [LoadedRecording]
    const about = aboutOf(recording, command, name)
    if (options.to === 'pytest' && options.client === 'plain' && 'url' in about.target)
      throw new WiretapeError('usage', '--client plain supports only stdio servers', {
        hint: 'use --client mcp, or name a command after --',
      })
    const wanted = maker && new Set<number>()
    if (maker) {
      const sieve = maker.make([recording.fold])
      for await (const { row } of mergedRows([recording], sieve)) wanted!.add(row)
    }
    const { talks, left } = await talksOf(recording, wanted)
    const { text, plan } = generateTests({ talks, left }, about, options.to, settings, options.client)
    if (plan.steps.length === 0)
      throw new WiretapeError('not-a-recording', `${escapeText(name)} has nothing to test`, {
        hint: 'a test needs lists, tool calls, prompts or resources with responses',
      })
    if (out === '-') await io.write(text, 'data')
    else await replaceFile(resolve(io.cwd, out), text)
    return exitCode.done
  } finally {
    await loaded.close()
  }
}

/** Requests of the client with their responses, in request order. @param wanted rows that a filter selected */
async function talksOf(
  recording: LoadedRecording,
  wanted: ReadonlySet<number> | undefined,
): Promise<{ talks: RecordedTalk[]; left: string[] }> {
  const { entries } = recording.fold
  const talks: Open[] = []
  const open = new Map<number, Open>()
  for await (const { row, kind, direction, raw, seq, part } of mergedRows([recording])) {
    if (kind === 'request' && direction === 'client_to_server' && entries.peer(row) >= 0) {
      if (wanted && !wanted.has(row) && !wanted.has(entries.peer(row))) continue
      // A test cannot cancel at the same moment.
      if (entries.has(row, 'cancelled') || talks.length >= mostTalks) continue
      const { params } = JSON.parse(raw) as { params?: RecordedTalk['params'] }
      const talk = {
        method: part!.envelope.method ?? '',
        name: part!.envelope.subject,
        seq,
        params: params ?? {},
      }
      talks.push(talk)
      open.set(row, talk)
    } else if (kind === 'request' && part!.envelope.method !== 'ping') {
      // Official clients refuse server requests unless the test provides a response.
      for (const talk of open.values()) talk.asks ??= part!.envelope.method ?? ''
    } else if ((kind === 'result' || kind === 'error') && direction === 'server_to_client') {
      const talk = open.get(entries.peer(row))
      if (talk && talk.answer === undefined) talk.answer = raw
      open.delete(entries.peer(row))
    }
  }
  const left = talks.flatMap(({ asks, name, method }) =>
    asks === undefined ? [] : [`${name ?? method}, which asks the client for ${asks}`],
  )
  const whole = talks.flatMap((talk) =>
    talk.answer === undefined || talk.asks !== undefined ? [] : [{ ...talk, answer: talk.answer }],
  )
  return { talks: whole, left }
}

/** A request until its response arrives. */
type Open = Omit<RecordedTalk, 'answer'> & { answer?: string; asks?: string }

function aboutOf({ fold }: LoadedRecording, command: readonly string[], name: string): About {
  const session = fold.sessions.at(-1)
  if (!session) throw new WiretapeError('not-a-recording', `${escapeText(name)} has no session`)
  return {
    server: session.server?.name ?? session.label,
    version: session.server?.version ?? '',
    recordedAt: session.startedAt,
    target: recordedTarget(session, command, name),
  }
}
