import {
  checkShapes,
  isCommandLine,
  isFlag,
  isFunction,
  isMembers,
  isText,
  oneOf,
  WiretapeError,
  type OptionShape,
} from '../model/index.js'
import type { MockOptions } from './mock-options.js'

const [isTransport, transportHint] = oneOf('streamable-http', 'sse')
const isPath = (value: unknown): boolean => isText(value) && value !== ''
const hasMethod = (value: unknown, name: string): boolean => isMembers(value) && isFunction(value[name])

const shapes: Readonly<Record<keyof MockOptions, OptionShape>> = {
  streams: [
    (value) => isMembers(value) && hasMethod(value['input'], 'on') && hasMethod(value['output'], 'write'),
    'use { input, output }: a readable and a writable stream',
  ],
  listen: [isMembers, 'use { host, port }'],
  openToAllUsers: [isFlag, 'use true or false'],
  transport: [isTransport, transportHint],
  repeatLast: [isFlag, 'use true or false'],
  pace: [isText, 'use fast, recorded, or a factor such as 4x'],
  rules: [isPath, 'use the path of a rules file'],
  fallback: [isCommandLine, "use a list of strings, such as ['node', 'server.js']"],
  record: [isMembers, "use { what: 'new' or 'all', out: the path of the copy }"],
  errorOutput: [(value) => hasMethod(value, 'write'), 'use a writable stream'],
  onMiss: [isFunction, 'use a function'],
  onNotice: [isFunction, 'use a function'],
}

const listenShapes: Readonly<Record<keyof NonNullable<MockOptions['listen']>, OptionShape>> = {
  host: [isText, 'use an address of this machine'],
  port: [
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535,
    'use a number from 0 (any free port) to 65535',
  ],
}

const recordShapes: Readonly<Record<keyof NonNullable<MockOptions['record']>, OptionShape>> = {
  what: oneOf('new', 'all'),
  out: [isPath, 'use the path of the copy'],
}

/** @throws WiretapeError `usage` */
export function checkOptions(options: MockOptions): void {
  checkShapes('option', options, shapes)
  const { listen, fallback, record } = options
  if (listen) checkShapes('option', prefixed('listen', listen), prefixed('listen', listenShapes))
  if (!record) return
  // Both are required: a missing option is as bad as an invalid one.
  const given: Partial<typeof record> = record
  const { what = '', out = '', ...more } = given
  checkShapes('option', prefixed('record', { what, out, ...more }), prefixed('record', recordShapes))
  if (!fallback)
    throw new WiretapeError('usage', 'recording new responses needs a real server', {
      hint: 'choose one with --fallback -- COMMAND',
    })
}

/** `{ port }` as `{ 'listen.port' }`: the name a user would write. */
function prefixed<T>(name: string, members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [`${name}.${key}`, value]))
}
