import { expect, it } from 'vitest'
import { latencyLines, summaryLine } from '../../src/cli/compare/print.js'
import { verdicts, zeroCounts, type ComparisonSummary } from '../../src/compare/index.js'
import { createStyle, widthOf } from '../../src/render/index.js'

it.each([false, true])('the summary of a comparison fits a narrow terminal (colours: %j)', (colours) => {
  const numbers = { answers: 12, p50Us: 123_456, p95Us: 1_234_567 }
  const counts = zeroCounts()
  for (const verdict of verdicts) counts[verdict] = 12
  const summary: ComparisonSummary = {
    counts,
    offers: [],
    latency: ['search', 'a-tool-with-a-name-that-is-much-longer'].map((name) => ({
      method: 'tools/call',
      direction: 'client_to_server',
      name,
      before: numbers,
      after: numbers,
    })),
    same: false,
  }
  const layout = { style: createStyle(colours), columns: 60 }
  const text = latencyLines(summary, layout) + summaryLine(summary, layout)
  for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(60)
  expect(text).toContain('123 ms → 123 ms')
  expect(text).toContain('12 not sent')
})
