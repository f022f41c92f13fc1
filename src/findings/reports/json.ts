import { countsOf, type FindingsReport, type ToldFinding } from './report.js'

/** The report as JSON (docs/schemas/check.schema.json); also used as a baseline. */
export function* jsonReport(report: FindingsReport): Generator<string, void, undefined> {
  yield `{"version":1,"wiretape":${JSON.stringify(report.version)},"counts":${JSON.stringify(countsOf(report))},"recordings":[`
  for (const [i, { files, label, session, isIncomplete, findings, left }] of report.recordings.entries()) {
    const head = JSON.stringify({ files, label, session, incomplete: isIncomplete, left })
    yield `${i === 0 ? '' : ','}\n${head.slice(0, -1)},"findings":[`
    let separator = ''
    for (const finding of findings) {
      yield `${separator}\n${JSON.stringify(findingJson(finding))}`
      separator = ','
    }
    yield ']}'
  }
  yield ']}\n'
}

function findingJson(finding: ToldFinding): object {
  const { rule, level, message, messages, at, server, tool, place, hash, suppressed } = finding
  return {
    rule: rule.id,
    level,
    certainty: rule.certainty,
    message,
    messages,
    at,
    server,
    tool,
    file: place?.file,
    line: place?.line,
    source: rule.source.url,
    owasp: rule.owasp,
    fingerprint: hash,
    suppressed,
  }
}
