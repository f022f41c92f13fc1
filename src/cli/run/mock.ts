import {
  prepareStage,
  serveHttp,
  serveOnStreams,
  type HttpServeOptions,
  type PlayOptions,
  type Stage,
} from '../../mock/index.js'
import { WiretapeError, type TapeRecord } from '../../model/index.js'
import { countOf } from '../../render/index.js'
import { openOwnStdio } from '../../transports/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import { openRecordings, type OpenRecording } from '../recordings.js'

export interface MockCommandOptions {
  readonly from?: string
  readonly listen?: string
  readonly transport?: 'streamable-http' | 'sse'
  readonly repeatLast?: boolean
  readonly pace?: string
  readonly quiet?: boolean
}

const endings = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** Serves a recording until the client leaves, or a signal comes. */
export async function runMock(
  files: readonly string[],
  options: MockCommandOptions,
  io: Io,
): Promise<number> {
  const listen = options.listen === undefined ? undefined : parseListen(options.listen)
  checkUse(files, options)
  const { recordings, close } = await openRecordings(files, io.cwd, options.from)
  const playOptions: PlayOptions = {
    ...(options.pace !== undefined && { pace: options.pace }),
    ...(options.repeatLast && { repeatLast: true }),
    onMiss: ({ message }) => {
      if (!options.quiet) void io.complain(message)
    },
    onNotice: (line) => void io.complain(line),
  }
  let stage: Stage
  try {
    stage = await prepareStage({ records: () => recordsOf(recordings) }, files.join(' '), playOptions)
  } finally {
    await close()
  }
  try {
    return await (listen
      ? overHttp(stage, { ...listen, transport: options.transport }, options, io)
      : onStdio(stage, playOptions))
  } finally {
    stage.play.close()
  }
}

/** One recording after the other. */
async function* recordsOf(recordings: readonly OpenRecording[]): AsyncIterable<TapeRecord> {
  for (const recording of recordings) yield* recording.records()
}

function checkUse(files: readonly string[], options: MockCommandOptions): void {
  if (options.listen !== undefined) return
  if (options.transport !== undefined) {
    throw new WiretapeError('usage', '--transport says how to serve over HTTP', {
      hint: '--listen says where',
    })
  }
  if (files.includes('-')) {
    throw new WiretapeError('usage', 'the client talks on stdin, so the recording cannot come from there', {
      hint: 'name a file, or serve over HTTP with --listen',
    })
  }
}

/** Serves until a signal comes. The only line on stdout is the URL for clients. */
async function overHttp(
  stage: Stage,
  place: Pick<HttpServeOptions, 'host' | 'port' | 'transport'>,
  { quiet }: MockCommandOptions,
  io: Io,
): Promise<number> {
  const ending = untilSignal()
  try {
    const served = await serveHttp(stage, { ...place, notice: (line) => void io.complain(line) })
    await io.write(`${served.url}\n`)
    await io.flush()
    if (!quiet) await io.complain('serving; give clients the URL above, end with Ctrl-C')
    await ending.signal
    await served.close()
    const { served: answers, missed } = stage.counts
    if (!quiet)
      await io.complain(`served ${countOf(answers, 'answer')}, ${countOf(missed, 'miss', 'misses')}`)
    return exitCode.done
  } finally {
    ending.cancel()
  }
}

async function onStdio(stage: Stage, options: PlayOptions): Promise<number> {
  const streams = openOwnStdio()
  const served = serveOnStreams(stage, streams, options)
  const ending = untilSignal()
  const signal = await Promise.race([served.ended, ending.signal])
  await served.close()
  await streams.closeOutput()
  streams.closeInput()
  ending.cancel()
  return signal === undefined ? exitCode.done : 128 + endings[signal]
}

/** Resolves at the first signal that ends a program. */
function untilSignal(): { readonly signal: Promise<keyof typeof endings>; cancel(): void } {
  const listeners: [keyof typeof endings, () => void][] = []
  const signal = new Promise<keyof typeof endings>((resolve) => {
    for (const name of Object.keys(endings) as (keyof typeof endings)[]) {
      const listener = (): void => resolve(name)
      process.on(name, listener)
      listeners.push([name, listener])
    }
  })
  return {
    signal,
    cancel: () => {
      for (const [name, listener] of listeners) process.off(name, listener)
    },
  }
}
