import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The built WebAssembly module, for `createMessageMemory`. */
export const messageModule = readFileSync(join(import.meta.dirname, '../dist/bin/messages.wasm'))
