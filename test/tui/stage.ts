import type {
  GateState,
  HeldEvent,
  ServerEvent,
  ServerHello,
  Success,
} from '../../src/control-schema/index.js'
import { frameOf } from '../../src/tui/frame.js'
import { MessageLog } from '../../src/tui/message-log.js'
import { reduce } from '../../src/tui/reduce.js'
import { RowView } from '../../src/tui/row-view.js'
import { unicodeSigns } from '../../src/tui/row-line.js'
import {
  initialState,
  type Action,
  type Context,
  type Effect,
  type ScreenState,
} from '../../src/tui/state.js'

export const hello: ServerHello = {
  type: 'hello',
  protocol: 1,
  wiretape: '0.1.0',
  session: 'session',
  label: 'files',
  pid: 1,
  transport: 'stdio',
  startedAt: '2026-01-01T00:00:00.000Z',
  command: ['node', 'server.js'],
  url: null,
  listening: null,
  tape: '/tape.jsonl',
  sessionFile: '/tape.session.json',
}

export const gate: GateState = {
  hold: false,
  breakpoints: [],
  order: 'exchange',
  onDetach: 'forward',
  holdTimeoutMs: null,
  awaitsScreen: false,
  rules: null,
  held: 0,
  screens: 1,
  onlookers: 0,
  canReload: false,
}

const meta =
  '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"files","command":["node","server.js"],"mcpTapVersion":"0.1.0","wiretape":{"version":"0.1.0","session":"session","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}}}'

type Done = Extract<Action, { type: 'done' }>

/** A screen without a terminal: its reducer and its picture, driven by events and keys. */
export function createScreen(
  options: { columns?: number; rows?: number; owner?: boolean; strict?: boolean } = {},
) {
  const { columns = 80, rows = 24, owner = false, strict = false } = options
  const log = new MessageLog('stdio')
  const view = new RowView(log)
  const context: Context = { hello, log, view, owner }
  let state: ScreenState = { ...initialState(columns, rows), phase: 'live', gate }
  const effects: Effect[] = []
  /** By purpose, of the command that was sent last. */
  const tokens = new Map<string, number>()
  let seq = 0

  function dispatch(action: Action): void {
    const step = reduce(state, action, context)
    state = step.state
    for (const effect of step.effects) {
      if (effect.kind === 'command') {
        const { token, ...rest } = effect
        if (token !== undefined) tokens.set(effect.as, token)
        effects.push(rest)
      } else if (effect.kind !== 'filter') effects.push(effect)
      else {
        const row = effect.row ?? view.at(state.cursor)
        view.setFilter(effect.filter)
        view.lookOn(Infinity)
        dispatch({ type: 'filtered', row })
      }
    }
  }
  function take(line: string): void {
    view.update(log.line(line))
    dispatch({ type: 'rows' })
  }
  /** Passes an event as a screen receives it. */
  function event(came: ServerEvent): void {
    const told =
      came.type === 'held'
        ? log.hold(came)
        : came.type === 'released'
          ? log.release(came.message, came.outcome)
          : came.type === 'live'
            ? log.settled()
            : log.gap()
    view.update(told)
    dispatch({ type: 'rows' })
  }
  take(strict ? meta.replace(/,"wiretape":.*\}\}$/, '}') : meta)

  return {
    log,
    get state() {
      return state
    },
    dispatch,
    /** A message as the tape tells it; `more` are members of its line. Returns its number. */
    message(dir: 'in' | 'out', raw: object, more: object = {}): number {
      const us = seq * 1000
      const line = { t: '2026-01-01T00:00:00.500Z', dir, raw, id: `message-${seq}`, seq, us, ...more }
      take(JSON.stringify(line))
      return seq++
    },
    line: take,
    event,
    held(raw: object, message = `message-${seq}`): void {
      const text = JSON.stringify(raw)
      const isAnswer = !('method' in raw)
      take(
        JSON.stringify({
          type: 'held',
          t: '2026-01-01T00:00:00.500Z',
          dir: isAnswer ? 'out' : 'in',
          raw,
          id: message,
          seq: seq++,
        }),
      )
      const event: HeldEvent = {
        type: 'held',
        message,
        direction: isAnswer ? 'server_to_client' : 'client_to_server',
        text,
        t: '2026-01-01T00:00:00.500Z',
        reason: 'hold',
      }
      log.hold(event)
      dispatch({ type: 'gate', gate: { ...gate, hold: true, held: log.heldCount } })
    },
    press(...names: string[]): void {
      for (const name of names) dispatch({ type: 'key', key: { name } })
    },
    type(text: string): void {
      for (const char of text) dispatch({ type: 'key', key: { name: char } })
    },
    paste: (text: string): void => dispatch({ type: 'key', key: { name: 'paste', text } }),
    token: (as: Done['as']): number => tokens.get(as)!,
    /** @param token of the command; of the last one without */
    done: (as: Done['as'], result: Success = {}, token = tokens.get(as)): void =>
      dispatch({ type: 'done', as, result, ...(token !== undefined && { token }) }),
    failed: (as: Done['as'], message: string, code?: string, token = tokens.get(as)): void => {
      const whose = { ...(code !== undefined && { code }), ...(token !== undefined && { token }) }
      dispatch({ type: 'failed', as, message, ...whose })
    },
    /** Effects since the last call. */
    effects: (): Effect[] => effects.splice(0),
    picture: (): string[] =>
      frameOf(state, context, unicodeSigns).lines.map((line) =>
        line
          .map(({ text }) => text)
          .join('')
          .trimEnd(),
      ),
    /** Text under the cursor, below the title. */
    cursors: (): string[] =>
      frameOf(state, context, unicodeSigns)
        .lines.slice(1)
        .flatMap((line) => line.flatMap(({ text, tone }) => (tone === 'inverse' ? [text] : []))),
    /** The line that is marked. */
    marked(): string {
      const frame = frameOf(state, context, unicodeSigns)
      return frame.selected < 0 ? '' : frame.lines[frame.selected]!.map(({ text }) => text).join('')
    },
  }
}

export const call = (id: number, tool: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: tool, arguments: args },
})
export const result = (id: number, text: string): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
})
