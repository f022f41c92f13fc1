import { indentJson } from '../../src/render/index.js'
import { isFrameRecord, type HeldRecord, type MessageRecord } from '../../src/model/index.js'
import { clean } from '../shell/clean.js'
import { headOf } from '../store/exchange.js'
import { reader } from '../store/actions.js'
import { lanes, table } from '../store/state.js'
import type { CopyForm } from '../detail/copy.js'
import type { Detail, Lane } from '../worker/protocol.js'
import { nameOf } from '../list/row.js'
import { callFromOf, callOf, mockOf, pythonOf, ruleOf, toCall, typescriptOf } from './copy-code.js'
import { curlOf, markdownOf, replayOf } from './copy-forms.js'

/** A row in a form for use elsewhere. */
export async function textOf(row: number, form: CopyForm): Promise<string> {
  const detail = await reader().detail(row, true)
  const text = jsonOf(detail)
  const lane = lanes.value[table.lane(row)]!
  const session = lane.sessions[0]
  switch (form) {
    case 'json':
      return text
    case 'pretty':
      return indentJson(text)
    case 'curl':
      return curlOf(detail.record as MessageRecord | HeldRecord, text, session?.url ?? '')
    case 'replay':
      return replayOf(lane.file.path ?? lane.file.name, table.seq(headOf(row)), session)
    case 'response':
      return messageAt(table.peer(headOf(row)))
    case 'pair':
      return `${await messageAt(headOf(row))}\n${await messageAt(table.peer(headOf(row)))}`
    case 'call':
    case 'typescript':
    case 'python':
    case 'rule':
      return codeOf(row, form, lane)
    case 'mock':
      return mockOf(
        lane.sessions[0]?.server?.name ?? session?.label ?? 'mock',
        await messageAt(headOf(row)),
        await messageAt(table.peer(headOf(row))),
      )
    case 'markdown': {
      const answer = table.kind(row) === 'request' ? table.peer(row) : -1
      const answerText = answer >= 0 ? jsonOf(await reader().detail(answer, true)) : undefined
      const { name, subject } = nameOf(row)
      return markdownOf(clean(`${name} ${subject}`.trim()), text, answerText)
    }
  }
}

async function messageAt(row: number): Promise<string> {
  return jsonOf(await reader().detail(row, true))
}

/** Code that repeats the request, or answers it. */
async function codeOf(
  row: number,
  form: 'call' | 'typescript' | 'python' | 'rule',
  lane: Lane,
): Promise<string> {
  const head = headOf(row)
  const text = await messageAt(head)
  const call = toCall(text)
  const session = lane.sessions[0]
  if (form === 'typescript') return typescriptOf(text, session)
  if (form === 'call')
    return call?.method === 'tools/call'
      ? callOf(call, session)
      : callFromOf(lane.file.path ?? lane.file.name, table.seq(head))
  if (!call) throw new Error('this request names no tool, prompt or resource')
  return form === 'python' ? pythonOf(call, session) : ruleOf(call, await messageAt(table.peer(head)))
}

/** Exact text of a message; the words of any other row. */
function jsonOf({ record, part }: Detail): string {
  if (isFrameRecord(record)) {
    const { start, end } = record.parts[part] ?? record.parts[0]!
    return record.raw.slice(start, end)
  }
  if (record.type === 'noise' || record.type === 'stderr') return record.text
  return JSON.stringify(record)
}
