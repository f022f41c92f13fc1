import { splitCommandLine, WiretapeError } from '../../model/index.js'
import type { Io } from '../io.js'
import type { RecordOptions } from '../record-options.js'
import { runRecord } from './record.js'

export interface ProxyStartOptions {
  readonly transport: 'stdio'
  readonly targetCommand: string
}

/** As `record`, with the server's command line as one text. */
export async function runProxyStart(options: ProxyStartOptions & RecordOptions, io: Io): Promise<number> {
  const split = splitCommandLine(options.targetCommand)
  if ('fault' in split) throw new WiretapeError('usage', `--target-command: ${split.fault}`)
  if (split.words.length === 0) throw new WiretapeError('usage', '--target-command is empty')
  return runRecord(split.words, options, io)
}
