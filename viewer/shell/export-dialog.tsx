import { loadedEngine } from '../patterns/loaded.js'
import { reader, tellFailure } from '../store/actions.js'
import { hasPatterns, lane, lanes, notice } from '../store/state.js'
import { endingOf } from '../worker/file-name.js'
import { clean } from './clean.js'
import { Box } from './box.js'
import { loadReportPage } from './report-page.js'

/** The formats that wiretape writes; none until the script with them has arrived. */
function written() {
  if (!hasPatterns.value && !loadedEngine()) return []
  const { formats, htmlReport } = loadedEngine()!.formats
  return [
    ...formats.filter((format) => format.write !== undefined),
    htmlReport(() => Promise.reject(new Error('the worker writes it'))),
  ]
}

/** Exports one lane in any format that wiretape writes; the worker does it. */
export function ExportDialog() {
  const all = lanes.value.filter(({ state }) => state !== 'failed')
  const chosen = all.filter(({ index }) => lane.value === 'all' || index === lane.value)
  return (
    <Box title="Export">
      {chosen.map((one) => (
        <section key={one.index} class="exports">
          <h3>{clean(one.sessions[0]?.label || one.name)}</h3>
          <ul>
            {written().map((format) => (
              <li key={format.id}>
                <button type="button" class="button" onClick={() => void save(one.index, format.id)}>
                  {format.title} <code>{endingOf(format).replace(/^.*(?=\.)/, '')}</code>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p class="quiet">Exports the whole recording, including messages hidden by the filter.</p>
    </Box>
  )
}

async function save(index: number, format: string): Promise<void> {
  notice.value = { text: 'Writing…', tone: 'plain', stays: true }
  try {
    const { blob, name, warnings } = await reader().call<{
      blob: Blob
      name: string
      warnings: readonly string[]
    }>('export', [index, format, ...(format === 'html' ? [await loadReportPage()] : [])])
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    notice.value = {
      text: [`Wrote ${name}.`, ...warnings].join(' '),
      tone: warnings.length > 0 ? 'warn' : 'plain',
    }
  } catch (error) {
    tellFailure(error)
  }
}
