export { pad, truncate, widthOf, wrapPieces } from './columns.js'
export { escapeJson, escapeLines, escapeText, invisible } from './escape.js'
export { phaseViews, phaseWords } from './http-phases.js'
export { indentedPieces, indentJson } from './indent-json.js'
export { markdownCode, markdownJson, markdownText } from './markdown.js'
export { rowContent } from './row-content.js'
export {
  authorWords,
  factWords,
  linkWords,
  longestName,
  rowLine,
  rowMatter,
  rowView,
  ownAnswerWords,
  toldFacts,
  type RowKind,
  type RowMatter,
  type RowTone,
  type RowView,
} from './row-view.js'
export { createStyle, type Style } from './style.js'
export {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  waitedWords,
  formatOffset,
  isTellable,
  unknownDuration,
} from './units.js'
export { createCommandGuard, workflowCommand } from './workflow-commands.js'
export { escapeXml } from './xml.js'
