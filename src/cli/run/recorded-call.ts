import { joinCommandLine, WiretapeError } from '../../model/index.js'
import { parseSetValue, setValues, type CallRequest } from '../../replay/index.js'
import { escapeText } from '../../render/index.js'
import type { SavedServer } from '../../saved-calls/index.js'
import { canAsk, confirm } from '../confirm.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import { mergedRows } from '../inspect/rows.js'
import type { Io } from '../io.js'
import { recordedTarget } from '../recorded-target.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings } from '../recordings.js'
import type { CallOptions } from './call.js'
import { recorderOf, serverOf } from './called-server.js'

/** A recorded request with `--set` applied, and its server: the named one, or the recorded one if a person agrees. */
export async function recordedCall(
  from: string,
  words: readonly string[],
  command: readonly string[],
  options: CallOptions,
  io: Io,
): Promise<{ request: CallRequest; recorder: string[] | undefined; server: SavedServer }> {
  const [number, ...more] = words
  if (number === undefined || !/^\d{1,9}$/.test(number) || more.length > 0)
    throw new WiretapeError('usage', '--from needs a message number', {
      hint: 'wiretape inspect prints the numbers at the start of each line',
    })
  const sets = (options.set ?? []).map((text) => parseSetValue(text, process.env))
  const name = await recordingPath(from, io)
  const row = await requestIn(name, Number(number), io)
  const request = { text: setValues(row.raw, sets) }
  if (command.length > 0 || options.url !== undefined || options.server !== undefined)
    return { request, recorder: await recorderOf(command, options, io), server: serverOf(command, options) }
  const target = recordedTarget(row.session!, [], from)
  const server = 'command' in target ? serverOf(target.command, {}) : serverOf([], target)
  const shown = 'command' in target ? joinCommandLine(target.command) : target.url
  if (!options.yes) {
    if (!canAsk())
      throw new WiretapeError('usage', `the recorded server is ${escapeText(shown)}`, {
        hint: 'add --yes to use it, or choose another server with --url or after --',
      })
    process.stderr.write(`Recorded server: ${escapeText(shown)}\n`)
    if (!(await confirm('Call it?'))) return { request, recorder: undefined, server }
  }
  return {
    request,
    server,
    recorder: await ('command' in target ? recorderOf(target.command, {}, io) : recorderOf([], target, io)),
  }
}

/** The client's request with this number, or the request of the response with this number. */
async function requestIn(name: string, number: number, io: Io): Promise<InspectRow> {
  const loaded = await loadRecordings([name], io.cwd)
  try {
    let wanted = number
    for (let pass = 0; pass < 2; pass += 1) {
      for await (const row of mergedRows(loaded.recordings)) {
        if (row.seq !== wanted) continue
        if (row.kind === 'request' && row.direction === 'client_to_server') return row
        if (row.answers === undefined || row.direction !== 'server_to_client')
          throw new WiretapeError(
            'usage',
            `message ${number} of ${escapeText(name)} is not a request of the client`,
            {
              hint: 'give the number of a request or of its response',
            },
          )
        wanted = row.answers
        break
      }
      if (wanted === number) break
    }
    throw new WiretapeError('usage', `${escapeText(name)} has no message ${number}`, {
      hint: 'wiretape inspect prints the numbers',
    })
  } finally {
    await loaded.close()
  }
}
