import { registryFolderIn } from '../../capture/index.js'
import { attachTo, findCapture, type CaptureConnection } from '../../control/index.js'
import { matchFilter, parseFilter, rowSubject, type Filter } from '../../filter/index.js'
import { decodeLine } from '../../formats/index.js'
import { createFold, WiretapeError, type Transport } from '../../model/index.js'
import { countOf, createStyle, formatBytes } from '../../render/index.js'
import { idKey } from '../../wire/index.js'
import { exitCode } from '../exit-codes.js'
import { listHeader, listRow, liveLayout } from '../inspect/list.js'
import { createLiveRows } from '../inspect/live-rows.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import { sessionHeader } from '../inspect/summary.js'
import type { Io } from '../io.js'

export interface TailOptions {
  readonly filter?: string
  readonly new?: boolean
  readonly json?: boolean
}

export async function runTail(id: string | undefined, options: TailOptions, io: Io): Promise<number> {
  const filter = options.filter === undefined ? undefined : filterOf(options.filter)
  const capture = await findCapture(registryFolderIn(io.dataFolder), id)
  const connection = await attachTo(capture, { role: 'onlooker', name: 'wiretape tail' })
  try {
    await connection.send({ type: 'subscribe', from: options.new ? 'now' : 0 })
    return await follow(connection, filter, options, io)
  } finally {
    connection.close()
  }
}

async function follow(
  connection: CaptureConnection,
  filter: Filter | undefined,
  options: TailOptions,
  io: Io,
): Promise<number> {
  const printer = createPrinter(connection, filter, options, io)
  let live = false
  for await (const event of connection.events) {
    if (event.type === 'record') {
      if (!(await io.write(printer.take(event.line), options.json ? 'data' : 'text'))) return exitCode.done
      if (live) await io.flush()
    } else if (event.type === 'live') {
      live = true
      if (!(await io.flush())) return exitCode.done
    } else if (event.type === 'gap') {
      const { lines, sizeBytes = 0, why } = event
      if (lines === undefined)
        await io.complain('older segments of the tape were deleted before they were read')
      else {
        const lost = `${countOf(lines, 'line')} (${formatBytes(sizeBytes)})`
        await io.complain(`${lost} left out: ${why}`, `all lines are in ${connection.hello.tape}`)
      }
    } else if (event.type === 'notice') await io.complain(event.message)
    else if (event.type === 'ended') return exitCode.done
  }
  await io.complain('the capture has ended', `its tape is ${connection.hello.tape}`)
  return exitCode.found
}

interface Printer {
  /** Text to print for a line of the tape. */
  take(line: string): string
}

function createPrinter(
  { hello }: CaptureConnection,
  filter: Filter | undefined,
  options: TailOptions,
  io: Io,
): Printer {
  const fold = createFold(idKey)
  const rows = createLiveRows(fold)
  const transportOf = (): Transport => fold.sessions.at(-1)?.transport ?? hello.transport
  const page = { style: createStyle(io.colours), columns: io.columns }
  const layout = liveLayout(Date.parse(hello.startedAt), page)
  const isKept = (row: InspectRow): boolean => {
    if (!filter) return true
    const { part, request, record } = row
    const more = { ...(part && { part }), ...(request && { request }) }
    return matchFilter(
      filter,
      rowSubject({ entries: fold.entries, row: row.row, record, transport: transportOf(), ...more }),
    )
  }
  return {
    take(line) {
      const decoded = decodeLine(line)
      if (!('record' in decoded)) return ''
      const { record } = decoded
      const taken = rows.take(record)
      if (options.json) {
        const wanted = taken.length === 0 ? !filter : taken.some(isKept)
        return wanted ? `${line}\n` : ''
      }
      if (record.type === 'meta') {
        const session = fold.sessions.at(-1)!
        const isFirst = record.wiretape === undefined || record.wiretape.segment === 0
        return isFirst ? `${sessionHeader(session, page, 'live')}\n${listHeader(layout)}\n` : ''
      }
      return taken
        .filter(isKept)
        .map((row) => `${listRow(row, layout)}\n`)
        .join('')
    },
  }
}

function filterOf(text: string): Filter {
  const { filter, fault } = parseFilter(text, { findings: 'refused' })
  if (filter) return filter
  throw new WiretapeError('usage', `--filter, column ${fault.column}: ${fault.message}`, {
    hint: 'see docs/filter.md',
  })
}
