import type { Report } from '../model/index.js'

/** Reports that a document starts with a byte order mark, for `createJsonPieces`. */
export function tellsMark(report: Report): { marked(): void } {
  return {
    marked: () =>
      report({ severity: 'warning', code: 'bom', message: 'starts with a byte order mark', at: { line: 1 } }),
  }
}
