/** Files that a build wrote beside the bundled program (dist/bin). They are absent where the sources run. */
import fs from 'node:fs'

/** The tables for redaction. */
export const tablesOfBuild = (): Uint8Array | undefined => fileOfBuild('redaction.tables')

/** The WebAssembly module of `wasm/index.ts`. */
export const moduleOfBuild = (): Uint8Array | undefined => fileOfBuild('messages.wasm')

function fileOfBuild(name: string): Uint8Array | undefined {
  try {
    return fs.readFileSync(new URL(`../bin/${name}`, import.meta.url))
  } catch {
    return undefined
  }
}
