import { jsonReport } from './json.js'
import { ctrfReport, githubReport, junitReport, markdownReport } from './others.js'
import type { FindingsReport } from './report.js'
import { sarifReport } from './sarif.js'

/** The reports of `wiretape check --report KIND=FILE`, as pieces of text. */
export const findingReports: Readonly<Record<string, (report: FindingsReport) => Iterable<string>>> = {
  json: jsonReport,
  sarif: sarifReport,
  junit: junitReport,
  github: githubReport,
  ctrf: ctrfReport,
  markdown: markdownReport,
}
