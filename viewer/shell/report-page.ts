import type { ReportPage } from '../../src/formats/index.js'
import { isFromDisk, ownScript, patternsText, viewsText } from './own-script.js'

/** This page, to be embedded in a report. */
export async function loadReportPage(): Promise<ReportPage> {
  const { src, text } = ownScript()
  if (isFromDisk)
    throw new Error(
      'a page opened from disk cannot read its own style sheet. Run `wiretape convert tape.jsonl report.html`, or open the recording with `wiretape ui`.',
    )
  if (src === '')
    return {
      script: text,
      patterns: patternsText(),
      views: viewsText(),
      style: document.querySelector('style')?.textContent ?? '',
    }
  const part = async (name: string): Promise<string> => {
    const response = await fetch(new URL(name, src))
    if (!response.ok) throw new Error(`cannot reload ${name}: ${response.status}`)
    return (await response.text()).trimEnd()
  }
  const [script, patterns, views, style] = await Promise.all(
    ['viewer.js', 'patterns.js', 'views.js', 'viewer.css'].map(part),
  )
  return { script: script!, patterns: patterns!, views: views!, style: style! }
}
