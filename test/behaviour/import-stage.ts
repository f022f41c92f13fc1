/** Transcripts to import, in a folder of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { wiretape, type Run } from './run-cli.js'

export const lines =
  '{"timestamp_ms":1000,"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Calc","arguments":{"a":1}}}\n' +
  '{"timestamp_ms":1001,"jsonrpc":"2.0","id":1,"result":{"sum":3}}\n'

export function useTranscripts() {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-import-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function file(name: string, content: string | Uint8Array): string {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  async function run(...args: string[]): Promise<Run> {
    return wiretape(args, { cwd: folder })
  }

  return { folder, file, run }
}
