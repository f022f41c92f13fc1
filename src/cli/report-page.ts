import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReportPage } from '../formats/index.js'
import { WiretapeError } from '../model/index.js'
import { viewerFolder } from './viewer-folder.js'

/** The built viewer, embedded in reports. */
export async function loadReportPage(): Promise<ReportPage> {
  const folder = viewerFolder()
  try {
    const script = await readFile(join(folder, 'viewer.js'), 'utf8')
    const style = await readFile(join(folder, 'viewer.css'), 'utf8')
    const patterns = await readFile(join(folder, 'patterns.js'), 'utf8')
    const views = await readFile(join(folder, 'views.js'), 'utf8')
    return { script, patterns, views, style }
  } catch (cause) {
    throw new WiretapeError('unreadable', `the viewer is missing in ${folder}`, {
      hint: 'build it with npm run build',
      cause,
    })
  }
}
