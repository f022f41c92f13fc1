import {
  checkShapes,
  isCommandLine,
  isFlag,
  isMembers,
  isText,
  isTexts,
  oneOf,
  WiretapeError,
  type OptionShape,
} from '../model/index.js'
import { longestTimerMs } from '../transports/index.js'
import type { ReplayOptions } from './replay-options.js'
import type { ReplayTarget } from './target.js'

const shapes: Readonly<Record<keyof ReplayOptions, OptionShape>> = {
  timeoutMs: [
    (value) => typeof value === 'number' && value > 0 && value <= longestTimerMs,
    `use a number of milliseconds, from 1 to ${longestTimerMs}`,
  ],
  handshake: [isFlag, 'use true or false'],
  unanswered: oneOf('error', 'empty', 'fail'),
  concurrency: oneOf('one', 'recorded'),
  speed: [(value) => typeof value === 'number' && value > 0, 'use a number above 0, or Infinity'],
  set: [isMembers, "use an object of values by JSONPath, such as { '$.params.arguments.key': 'x' }"],
  strictSecrets: [isFlag, 'use true or false'],
  filter: [isText, 'use a string'],
  level: oneOf('exact', 'semantic', 'schema'),
  ignore: [isTexts, "use a list of JSONPaths, such as ['$.result.at']"],
  match: [
    (value) => isMembers(value) && Object.values(value).every(isText),
    "use an object of matchers by JSONPath, such as { '$.result.at': 'timestamp' }",
  ],
  compareFile: [(value) => value === false || (isText(value) && value !== ''), 'use a path, or false'],
  signal: [(value) => value instanceof AbortSignal, 'use an AbortSignal'],
}

/** @throws WiretapeError `usage` */
export function checkOptions(options: ReplayOptions): void {
  checkShapes('option', options, shapes)
}

/** A header name and value that HTTP can carry. */
const isHeader = (value: unknown): boolean =>
  isTexts(value) &&
  value.length === 2 &&
  /^[\w!#$%&'*+.^`|~-]+$/.test(value[0]!) &&
  !/[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/.test(value[1]!)

const targetShapes: Readonly<Record<'command' | 'url' | 'headers' | 'transport', OptionShape>> = {
  command: [isCommandLine, "use a list of strings, such as ['node', 'server.js']"],
  url: [isText, 'use a string'],
  headers: [
    (value) => Array.isArray(value) && value.every(isHeader),
    "use a list of header names and values, such as [['Authorization', 'Bearer x']]",
  ],
  transport: oneOf('streamable-http', 'sse'),
}

/** Like `checkOptions`, for the target. */
export function checkTarget(target: ReplayTarget): void {
  const { command, url }: { command?: unknown; url?: unknown } = target ?? {}
  if ((command === undefined) === (url === undefined))
    throw new WiretapeError('usage', 'the target is invalid', {
      hint: "use { command: ['node', 'server.js'] } or { url: 'http://…' }",
    })
  checkShapes('member of the target', target, targetShapes)
}
