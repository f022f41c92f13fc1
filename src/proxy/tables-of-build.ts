import fs from 'node:fs'

/** The tables for redaction that a build wrote beside the bundled program; undefined in other builds. */
export function tablesOfBuild(): Uint8Array | undefined {
  try {
    return fs.readFileSync(new URL('redaction.tables', import.meta.url))
  } catch {
    return undefined
  }
}
