import { githubReport } from './github.js'
import { jsonReport } from './json.js'
import { junitReport } from './junit.js'
import { markdownReport } from './markdown.js'
import type { ComparisonReport } from './report.js'

export { collectReport, type ComparisonReport } from './report.js'

/** The reports of `--report KIND=FILE`, as pieces of text. */
export const reportKinds: Readonly<Record<string, (report: ComparisonReport) => Iterable<string>>> = {
  junit: junitReport,
  json: jsonReport,
  markdown: markdownReport,
  github: githubReport,
}
