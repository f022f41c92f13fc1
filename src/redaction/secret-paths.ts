import type { Finding } from './finding.js'
import type { TextRuns } from './text-runs.js'

/** Files that are meant to be public. */
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
  if (!runs.startsWord(at) || /[_)\]*]/.test(text[at - 1] ?? '')) return undefined
  const end = runs.endOfFileName(at)
  const next = text[at + 4]
  if (end > at + 4 && next !== '.') return undefined
  if (isFolder(text.slice(end, end + 8))) return undefined
  if (end - at < 40 && samples.test(text.slice(at, end))) return undefined
  const start = runs.startOfPath(at)
  return start === at && isMention(text, at, end) ? undefined : { start, end, rule: 'env-path' }
}

/** A bare file name among words: `see the .env file`, `copy .env.example to .env`. */
function isMention(text: string, at: number, end: number): boolean {
  const before =
    /(?:^|\s)(?:the|your|an?|my|our|to|from|in|into|of|via|using|with|reading|loading|called|named|and|or) [`"']?$/i
  return (
    before.test(text.slice(Math.max(0, at - 12), at)) ||
    /^[`"']? (?:files?|is|was|contains|holds|and|or|to)\b/.test(text.slice(end, end + 12))
  )
}

/** Whether a separator follows, and not an escape of text inside a string: `\n`, `\"`, `\u0022`. */
function isFolder(behind: string): boolean {
  return behind.startsWith('/') || /^\\+(?:\/|(?!u00|x[0-9a-fA-F]{2}|[0-7]{3}|e\[)[^\\nrt"'`])/.test(behind)
}

function sshPath(runs: TextRuns, at: number, file: number): Finding | undefined {
  const { text } = runs
  if (isEscape(text, at, file)) return undefined
  const end = runs.endOfFileName(file)
  if (end === file || isPublic(text, file, end)) return undefined
  return { start: runs.startOfPath(at), end, rule: 'ssh-key-path' }
}

/** Whether the backslashes after `.ssh` begin a `\n`, not a file name: another number of them precedes it. */
function isEscape(text: string, at: number, file: number): boolean {
  if (text[file - 1] !== '\\' || !/[nrt]/.test(text[file] ?? '')) return false
  const before = /\\{0,8}$/.exec(text.slice(Math.max(0, at - 8), at))?.[0].length ?? 0
  return before !== file - at - '.ssh'.length
}

function keyPath(runs: TextRuns, at: number): Finding | undefined {
  if (!runs.startsWord(at)) return undefined
  const end = runs.endOfFileName(at)
  if (isPublic(runs.text, at, end)) return undefined
  return { start: runs.startOfPath(at), end, rule: 'ssh-key-path' }
}

function isPublic(text: string, start: number, end: number): boolean {
  return publicFiles.test(text.slice(Math.max(start, end - 40), end))
}
