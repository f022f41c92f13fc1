import type { FilterSubject, SubjectFlag } from '../../src/filter/index.js'

type Given = Partial<Omit<FilterSubject, 'is' | 'raw'>> & { flags?: readonly SubjectFlag[]; text?: string }

/** A subject with the given facts; a request without any others. */
export function subject({ flags = [], text, ...given }: Given = {}): FilterSubject {
  return {
    kind: 'request',
    direction: 'client_to_server',
    method: null,
    name: null,
    id: null,
    sequence: null,
    status: null,
    httpStatus: null,
    errorCode: null,
    latencyMs: null,
    sizeBytes: text?.length ?? 0,
    timeMs: null,
    conversation: null,
    transport: null,
    rule: null,
    findings: [],
    ...given,
    is: (flag) => flags.includes(flag),
    raw: () => text ?? null,
  }
}

/** A call of a tool, as exact text. */
export function call(tool: string, args: unknown, id = '7'): FilterSubject {
  const text = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${JSON.stringify(args)}}}`
  return subject({ method: 'tools/call', name: tool, id, text })
}
