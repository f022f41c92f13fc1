/** Recordings with options, and files of `--max-bytes`. */
import { expect } from 'vitest'
import { cli, printed, server, type Actor, useStage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

/** A server that prints its arguments, one a line. */
export const sayArguments = ['sh', '-c', 'printf "%s\\n" "$@"', 'sh']

export const line = (n: number): string =>
  `{"jsonrpc":"2.0","method":"n","params":{"n":${n},"pad":"${'x'.repeat(200)}"}}\n`

export function useRecordOptions() {
  const stage = useStage()

  const wiretape = (...args: readonly string[]): Actor => stage.start([process.execPath, cli, ...args])

  async function metaOf(options: readonly string[], command: readonly string[] = ['true']): Promise<Line> {
    const recorder = stage.start(stage.record(command, options))
    expect((await recorder.ended).exitCode).toBe(0)
    return linesOfTape(stage.tape())[0]!
  }

  /** One message at a time, so that the tape is written while the server runs. */
  async function converse(options: readonly string[], count: number): Promise<string> {
    const recorder = stage.start(stage.record(server('echo-lines.mjs'), options))
    let sent = ''
    for (let n = 0; n < count; n += 1) {
      sent += line(n)
      await recorder.send(line(n))
      if (n % 50 === 49) await printed(recorder, `"n":${n},`)
    }
    recorder.stdin.end()
    expect((await recorder.ended).exitCode).toBe(0)
    expect(recorder.stderr().toString()).toBe('')
    return sent
  }

  /** Files in the order of their segments; `.10.` comes after `.9.`. */
  const segments = (): string[] =>
    stage
      .tapes()
      .toSorted((a, b) => linesOfTape(a)[0]!['wiretape'].segment - linesOfTape(b)[0]!['wiretape'].segment)

  return { stage, wiretape, metaOf, converse, segments }
}
