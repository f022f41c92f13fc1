/**
 * A reader of the published trace format, independent of wiretape's: it refuses everything that the format does not
 * have.
 */
export interface PublishedTrace {
  readonly messages: number
  readonly exitCode: number | undefined
  readonly durationMs: number
}

const milliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** @param options.exitCode `optional`: where the recording did not know it */
export function readPublishedTrace(
  text: string,
  { exitCode }: { readonly exitCode: 'required' | 'optional' },
): PublishedTrace {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed')
  const lines = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const meta = lines.shift()!
  const end = lines.pop()!
  const startedMs = timeOf(meta['startedAt'])
  check(meta['v'] === 1 && meta['type'] === 'meta', 'no meta line')
  check(typeof meta['label'] === 'string' && meta['label'] !== '', 'no label')
  const command = meta['command']
  check(Array.isArray(command) && command.every((word) => typeof word === 'string'), 'no command')
  check(end['type'] === 'end', 'no end line')
  const durationMs = end['durationMs']
  check(durationMs === timeOf(end['t']) - startedMs, `durationMs ${String(durationMs)}`)
  const code = end['exitCode']
  check(Number.isInteger(code) || (exitCode === 'optional' && code === undefined), `exitCode ${String(code)}`)
  let messages = 0
  for (const line of lines) {
    // Renderers pass over types that they do not know.
    if ('type' in line) continue
    timeOf(line['t'])
    check(line['dir'] === 'in' || line['dir'] === 'out', 'no dir')
    check(typeof line['raw'] === 'object' && line['raw'] !== null, 'no message')
    messages += 1
  }
  return { messages, exitCode: code as number | undefined, durationMs }
}

function timeOf(value: unknown): number {
  check(typeof value === 'string' && milliseconds.test(value), `no time in milliseconds: ${String(value)}`)
  return Date.parse(value)
}

function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}
