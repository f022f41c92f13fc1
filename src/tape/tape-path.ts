/** Longest label in a file name, in characters. */
const longestLabel = 64

/**
 * File name of a new tape: `<start as YYYY-MM-DDTHH-MM-SS-mmmZ>-<label made safe>.jsonl`.
 *
 * @param attempt 0 for the first attempt; others make the name unique
 */
export function tapeFileName(startedAt: Date, label: string, attempt = 0): string {
  const stamp = startedAt.toISOString().replaceAll(/[:.]/g, '-')
  return `${stamp}-${safeLabel(label)}${attempt === 0 ? '' : `-${attempt + 1}`}.jsonl`
}

/** Letters, digits, dot, dash and underscore; never empty, never hidden, 64 characters at most. */
export function safeLabel(label: string): string {
  const safe = label
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, longestLabel)
    .replace(/[.-]+$/, '')
  return safe === '' ? 'server' : safe
}

/** `…/name.jsonl` for segment 0, `…/name.1.jsonl` and so on for the others. */
export function segmentPath(basePath: string, segment: number): string {
  return segment === 0 ? basePath : basePath.replace(/(\.jsonl)?$/, `.${segment}.jsonl`)
}
