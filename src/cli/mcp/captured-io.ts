import type { Io } from '../io.js'

/** Output of a command run inside this process. */
export interface CapturedIo {
  readonly io: Io
  /** Output of the command. */
  text(): string
  /** Problems reported, one line each. */
  readonly complaints: readonly string[]
}

/**
 * Runs commands over the data folder without a terminal. Relative names refer to the recordings folder.
 *
 * @param take gets each piece instead of `text()`; false means that the reader is gone
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
