import type { Finding } from './finding.js'
import type { TextRuns } from './text-runs.js'

/** Files that are meant to be read by everybody. */
const samples = /\.(?:example|sample|template|dist|d\.ts)$/
const publicFiles = /^(?:known_hosts|config|authorized_keys|environment|rc)\b|\.pub$/

/** Reads a path around the anchor `found` at `at`: `.env`, something in `.ssh/`, or a key file's name. */
export function findPath(runs: TextRuns, at: number, found: string): Finding | undefined {
  if (found === '.env') return envPath(runs, at)
  return found.startsWith('.ssh') ? sshPath(runs, at, at + found.length) : keyPath(runs, at)
}

/** `.env` and `.env.local`, but no `process.env.HOME`, no `.environment` and no folder `.env/`. */
function envPath(runs: TextRuns, at: number): Finding | undefined {
  const { text } = runs
  const before = text[at - 1]
  if (runs.isWord(at - 1) || before === '_' || before === ')' || before === ']' || before === '*')
    return undefined
  const end = endOfFileName(runs, at)
  const next = text[at + 4]
  if (end > at + 4 && next !== '.') return undefined
  if (text[end] === '/' || text[end] === '\\') return undefined
  if (end - at < 40 && samples.test(text.slice(at, end))) return undefined
  return { start: runs.startOfPath(at), end, rule: 'env-path' }
}

function sshPath(runs: TextRuns, at: number, file: number): Finding | undefined {
  const end = endOfFileName(runs, file)
  if (end === file || isPublic(runs.text, file, end)) return undefined
  return { start: runs.startOfPath(at), end, rule: 'ssh-key-path' }
}

function keyPath(runs: TextRuns, at: number): Finding | undefined {
  if (runs.isWord(at - 1)) return undefined
  const end = endOfFileName(runs, at)
  if (isPublic(runs.text, at, end)) return undefined
  return { start: runs.startOfPath(at), end, rule: 'ssh-key-path' }
}

function isPublic(text: string, start: number, end: number): boolean {
  return publicFiles.test(text.slice(Math.max(start, end - 40), end))
}

/** A full stop at the end belongs to the sentence. */
function endOfFileName(runs: TextRuns, at: number): number {
  let end = runs.endOfDotted(at)
  while (end > at && runs.text[end - 1] === '.') end--
  return end
}
