import type { Io } from '../io.js'

/** The output of a command that runs inside this process. */
export interface CapturedIo {
  readonly io: Io
  /** What the command printed. */
  text(): string
  /** What it complained about, one line each. */
  readonly complaints: readonly string[]
}

/**
 * Runs commands over the data folder without a terminal. Relative names are those of the recordings folder.
 *
 * @param take gets each piece instead of `text()`; false means that nobody reads any more
 */
export function captureIo(outer: Io, cwd: string, take?: (piece: string) => boolean): CapturedIo {
  const pieces: string[] = []
  const complaints: string[] = []
  let reads = true
  const write = (piece: string): Promise<boolean> => {
    if (!take) pieces.push(piece)
    else if (reads) reads = take(piece)
    return Promise.resolve(reads)
  }
  return {
    complaints,
    text: () => pieces.join(''),
    io: {
      cwd,
      dataFolder: outer.dataFolder,
      columns: undefined,
      colours: false,
      write,
      writeBytes: (bytes) => write(Buffer.from(bytes).toString()),
      page: () => undefined,
      flush: () => Promise.resolve(reads),
      complain(message) {
        complaints.push(message)
        return Promise.resolve()
      },
      close: () => Promise.resolve(undefined),
    },
  }
}
