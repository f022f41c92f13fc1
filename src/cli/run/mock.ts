import { prepareStage, serveOnStreams, type PlayOptions, type Stage } from '../../mock/index.js'
import { WiretapeError } from '../../model/index.js'
import { openOwnStdio } from '../../transports/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { openOne } from '../transfer.js'

export interface MockCommandOptions {
  readonly from?: string
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
  if (files.includes('-')) {
    throw new WiretapeError(
      'usage',
      'stdin is where the client talks, so the recording cannot come from there',
      {
        hint: 'name a file',
      },
    )
  }
  const { recording, close } = await openOne(files, io, options.from)
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
    stage = await prepareStage({ records: () => recording.records() }, files.join(' '), playOptions)
  } finally {
    await close()
  }
  try {
    return await onStdio(stage, playOptions)
  } finally {
    stage.play.close()
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
