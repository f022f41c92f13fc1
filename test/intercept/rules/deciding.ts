import type { FilterSubject } from '../../../src/filter/index.js'
import { createRules } from '../../../src/intercept/rules/rules-engine.js'
import type { Decision } from '../../../src/intercept/decision.js'
import type { RuleFrame, Rules } from '../../../src/intercept/rules/rules.js'
import { parseRules } from '../../../src/intercept/rules/parse-rules.js'
import { subject } from '../../filter/subject.js'
import { readParts } from '../../../src/wire/index.js'

/** Rules of a YAML text that has nothing wrong. */
export function rulesOf(yaml: string, before?: Rules): Rules {
  const { diagnostics, ...parsed } = parseRules(yaml, { readFile: () => ({ problem: 'no files here' }) })
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return createRules(parsed, before)
}

/** A frame as the gate would show it; an answer answers `request`. */
export function frameOf(raw: string, request?: { method: string; name: string }): RuleFrame {
  const frame = readParts(raw)
  return { ...frame, subjects: frame.parts.map((part) => subjectOf(raw, part, request)) }
}

function subjectOf(
  raw: string,
  { envelope, start, end }: RuleFrame['parts'][number],
  request: { method: string; name: string } | undefined,
): FilterSubject {
  const isAnswer = envelope.kind === 'result' || envelope.kind === 'error'
  return subject({
    kind: envelope.kind,
    direction: isAnswer ? 'server_to_client' : 'client_to_server',
    method: envelope.method ?? (isAnswer ? request?.method : undefined) ?? null,
    name: envelope.subject ?? (isAnswer ? request?.name : undefined) ?? null,
    id: envelope.id ?? null,
    status: envelope.kind === 'result' ? 'ok' : envelope.kind === 'error' ? 'error' : null,
    errorCode: envelope.errorCode ?? null,
    transport: 'stdio',
    text: raw.slice(start, end),
  })
}

export function callText(tool: string, argumentsText = '{}', id = '7'): string {
  return `{"jsonrpc":"2.0", "id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":${argumentsText}}}`
}

/** Decision of one rule about a call of `search`. */
export function decide(action: string, text: string, more = ''): Decision | undefined {
  return rulesOf(`rules:\n  - name: r\n    when: ''\n${more}    ${action}\n`).decide(frameOf(text))
}
