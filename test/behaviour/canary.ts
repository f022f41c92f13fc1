/** Canaries: secrets to search for in everything that is written or sent. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { plainEnv, wiretape } from './run-cli.js'
import type { Stage } from './stage.js'

/** The common part of all canaries. Built here, so that no scanner takes it for a real secret. */
export const core = 'Q7canary4Zp8Wm2Xk6Vt9Bn3Lr5Hd1Jf0Gs'
export const canary = 'ghp_'.concat(core)

/** Names and contents of all files below a folder. */
export function written(folder: string): string {
  return readdirSync(folder)
    .map((name) => {
      const path = join(folder, name)
      const stat = statSync(path)
      if (stat.isDirectory()) return `${path}\n${written(path)}`
      return stat.isFile() ? `${path}\n${readFileSync(path, 'latin1')}` : path
    })
    .join('\n')
}

/** All formats and reports of the recording, and the output of the commands that print it. */
export async function made(stage: Stage, tape: string): Promise<string> {
  const options = { cwd: stage.folder, env: plainEnv(stage.env), input: '' }
  const texts: string[] = []
  for (const format of [
    'session-json',
    'har',
    'jsonrpc',
    'markdown',
    'csv',
    'otlp-json',
    'assay-trace',
    'html',
  ]) {
    const { stdout } = await wiretape(['convert', tape, '-', '--to', format], options)
    texts.push(stdout)
  }
  for (const args of [['inspect', tape, '-v'], ['inspect', tape, '--json'], ['ls'], ['diff', tape, tape]]) {
    const { stdout, stderr } = await wiretape(args, options)
    texts.push(stdout, stderr)
  }
  expect(texts.filter((text) => text.length > 100).length).toBeGreaterThan(6)
  return texts.join('\n')
}
