/** Position of a fault, in the importer's words. @param line 1-based, of the start of the text */
export function placeOf(text: string, at: number, line: number): string {
  const before = text.slice(0, at)
  const lines = before.split('\n')
  return `line ${line + lines.length - 1} column ${lines.at(-1)!.length + (at < text.length ? 1 : 0)}`
}
