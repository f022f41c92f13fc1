import { countOf, escapeXml, markdownText, workflowCommand } from '../../render/index.js'
import {
  countsOf,
  numbersOf,
  whereOf,
  type CheckedRecording,
  type FindingsReport,
  type ToldFinding,
} from './report.js'

/** The faults of one rule in one recording that are not suppressed. */
function byRule({ findings }: CheckedRecording, id: string): ToldFinding[] {
  return findings.filter(({ rule, suppressed }) => rule.id === id && !suppressed)
}

/** JUnit XML: one suite per recording, one test case per rule. Notes are not failures. */
export function* junitReport(report: FindingsReport): Generator<string, void, undefined> {
  const fails = (recording: CheckedRecording, id: string): boolean =>
    byRule(recording, id).some(({ level }) => level !== 'note')
  const failed = report.recordings.map(
    (recording) => report.rules.filter(({ id }) => fails(recording, id)).length,
  )
  const all = failed.reduce((sum, count) => sum + count, 0)
  const tests = report.rules.length
  yield `<?xml version="1.0" encoding="UTF-8"?>\n`
  yield `<testsuites tests="${tests * report.recordings.length}" failures="${all}" errors="0">\n`
  for (const [i, recording] of report.recordings.entries()) {
    yield `  <testsuite name="${escapeXml(recording.files.join(', '))}" tests="${tests}" failures="${failed[i]}" errors="0" skipped="0">\n`
    for (const { id, title, pack } of report.rules) {
      const open = `    <testcase classname="${escapeXml(pack)}" name="${escapeXml(id)}" time="0"`
      const faults = byRule(recording, id)
      const lines = escapeXml(
        faults.map((fault) => `${whereOf(fault, recording)} ${fault.level}: ${fault.message}`).join('\n'),
      )
      if (faults.length === 0) yield `${open}/>\n`
      else if (!fails(recording, id))
        yield `${open}>\n      <system-out>${lines}</system-out>\n    </testcase>\n`
      else
        yield `${open}>\n      <failure message="${escapeXml(title)}" type="${faults[0]!.level}">${lines}</failure>\n    </testcase>\n`
    }
    yield '  </testsuite>\n'
  }
  yield '</testsuites>\n'
}

const githubLevels = { error: 'error', warning: 'warning', note: 'notice' } as const

/** Workflow commands: GitHub Actions shows each such line on stdout as an annotation. */
export function* githubReport(report: FindingsReport): Generator<string, void, undefined> {
  for (const recording of report.recordings) {
    for (const finding of recording.findings) {
      if (finding.suppressed) continue
      const numbers = numbersOf(finding)
      const where = `${whereOf(finding, recording)}${numbers === '' ? '' : ` (${numbers})`}`
      yield workflowCommand(githubLevels[finding.level], finding.rule.id, `${finding.message} (${where})`)
    }
  }
}

/** CTRF (Common Test Report Format): one test per rule and recording. */
export function* ctrfReport(report: FindingsReport): Generator<string, void, undefined> {
  const tests = report.recordings.flatMap((recording) =>
    report.rules.map(({ id, pack }) => {
      const faults = byRule(recording, id)
      const failed = faults.some(({ level }) => level !== 'note')
      return {
        name: `${id} (${recording.files.join(', ')})`,
        status: failed ? 'failed' : 'passed',
        duration: 0,
        suite: [pack],
        ...(faults.length > 0 && {
          message: faults
            .map((fault) => `${whereOf(fault, recording)} ${fault.level}: ${fault.message}`)
            .join('\n'),
        }),
      }
    }),
  )
  const failed = tests.filter(({ status }) => status === 'failed').length
  const summary = {
    tests: tests.length,
    passed: tests.length - failed,
    failed,
    pending: 0,
    skipped: 0,
    other: 0,
    start: 0,
    stop: 0,
  }
  yield `${JSON.stringify({ reportFormat: 'CTRF', specVersion: '0.0.0', results: { tool: { name: 'wiretape', version: report.version }, summary, tests } })}\n`
}

export function* markdownReport(report: FindingsReport): Generator<string, void, undefined> {
  const { error, warning, note } = countsOf(report)
  yield `# Findings\n\n${countOf(error, 'error')}, ${countOf(warning, 'warning')}, ${countOf(note, 'note')}.\n`
  for (const recording of report.recordings) {
    yield `\n## ${markdownText(recording.files.join(', '), 'line')}\n\n`
    const told = recording.findings.filter(({ suppressed }) => !suppressed)
    if (told.length === 0) {
      yield 'No findings.\n'
      continue
    }
    yield '| level | rule | message | finding |\n|---|---|---|---|\n'
    for (const finding of told)
      yield `| ${finding.level} | [${finding.rule.id}](${finding.rule.source.url}) | ${numbersOf(finding)} | ${markdownText(finding.message, 'cell')} |\n`
  }
}
