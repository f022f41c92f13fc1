// @ts-check
import { spawn } from 'node:child_process'
import { watchResidentSet } from './resident-set.mjs'

/**
 * @param {readonly string[]} argv
 * @returns {Promise<{ seconds: number, peakBytes: number, stdout: string }>}
 */
export async function timed(argv) {
  const start = performance.now()
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const memory = watchResidentSet(child.pid ?? 0)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
    if (stdout.length < 10_000) stdout += chunk.toString('latin1')
  })
  child.stderr.on('data', (/** @type {Buffer} */ chunk) => (stderr += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const { peakBytes } = memory.read()
  memory.stop()
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${stderr}`)
  return { seconds: (performance.now() - start) / 1000, peakBytes, stdout }
}
