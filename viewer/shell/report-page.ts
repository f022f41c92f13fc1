import type { ReportPage } from '../../src/formats/index.js'
import { ownScript } from './own-script.js'

/** This very page, to be put into a report. */
export async function loadReportPage(): Promise<ReportPage> {
  const { src, text } = ownScript()
  if (src === '') {
    const inside = (selector: string): string => document.querySelector(selector)?.textContent ?? ''
    return { script: text, patterns: inside('#patterns'), style: inside('style') }
  }
  const part = async (name: string): Promise<string> => {
    const response = await fetch(new URL(name, src))
    if (!response.ok) throw new Error(`${name} could not be read again: ${response.status}`)
    return (await response.text()).trimEnd()
  }
  const [script, patterns, style] = await Promise.all(['viewer.js', 'patterns.js', 'viewer.css'].map(part))
  return { script: script!, patterns: patterns!, style: style! }
}
