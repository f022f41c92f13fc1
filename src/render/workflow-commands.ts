import { escapeLines } from './escape.js'

/**
 * GitHub Actions reads commands from all output of a step: from a line that begins with `::`, and from `##[`
 * anywhere in a line.
 */

/** An annotation: one command on one line. @param at the annotated source line; `line` is 1-based */
export function workflowCommand(
  level: 'error' | 'warning' | 'notice',
  title: string,
  text: string,
  at?: { readonly file: string; readonly line: number },
): string {
  const place = at ? `file=${property(at.file)},line=${at.line},` : ''
  return `::${level} ${place}title=${property(title)}::${data(text)}\n`
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

function data(text: string): string {
  return withoutCommands(escapeLines(text), 'x')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
}

/**
 * Removes commands from a stream of text. The second colon and the bracket become `\uXXXX`, which means the
 * same in a JSON string; `::` at the start of a line cannot be JSON.
 */
export function createCommandGuard(): (text: string) => string {
  let before = ''
  return (text) => {
    const given = before
    const all = given + text
    const line = all.slice(Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r')) + 1)
    before = /^[\s\u0085]*:?$/.test(line) ? line.trim() : `x${/#{0,2}$/.exec(line)![0]}`
    return withoutCommands(text, given)
  }
}

/** @param before the state of the line so far: empty, a colon, or `x` and up to two `#` */
function withoutCommands(text: string, before: string): string {
  return `${before}${text}`
    .replace(/^((?:[^\S\r\n]|\u0085)*:):/gm, String.raw`$1\u003a`)
    .replaceAll('##[', String.raw`##\u005b`)
    .slice(before.length)
}
