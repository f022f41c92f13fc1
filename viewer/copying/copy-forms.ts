import type { HeldRecord, MessageRecord, Session } from '../../src/model/index.js'
import { indentJson } from '../../src/render/index.js'

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Headers that curl sets itself, or that belong to one connection. */
const notSent = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'accept-encoding',
  'keep-alive',
])

/**
 * A message of the client as a curl command. Secrets were redacted when recorded, so `[REDACTED]` marks where
 * a token must be filled in.
 *
 * @param url of the server
 */
export function curlOf(record: MessageRecord | HeldRecord, text: string, url: string): string {
  const recorded = (record.http?.headers ?? []).filter(
    // curl reads an argument that begins with @ as a file name.
    ([name]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !notSent.has(name.toLowerCase()),
  )
  const headers: readonly (readonly [string, string])[] =
    recorded.length > 0
      ? recorded
      : [
          ['Content-Type', 'application/json'],
          ['Accept', 'application/json, text/event-stream'],
        ]
  const lines = [
    `curl -sS -N --url ${shellWord(url)}`,
    ...headers.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
  ]
  lines.push(`--data-raw ${shellWord(text)}`)
  return lines.join(' \\\n  ')
}

/** The command that sends this request to the recorded server again. */
export function replayOf(file: string, seq: number, session: Session | undefined): string {
  const only = seq < 0 ? '' : ` --filter seq:${seq}`
  const target =
    session && session.url !== null
      ? `--url=${shellWord(session.url)}`
      : `-- ${(session?.command ?? []).map(shellWord).join(' ') || 'SERVER'}`
  // A name that begins with a dash would be read as an option.
  return `wiretape replay ${shellWord(file.replace(/^-/, './-'))}${only} ${target}`
}

/** The command that explains what happened to a request. */
export function explainOf(file: string, seq: number): string {
  return `wiretape explain ${shellWord(file.replace(/^-/, './-'))}${seq < 0 ? '' : ` ${seq}`}`
}

/** Markdown for a ticket. */
export function markdownOf(title: string, text: string, answer: string | undefined): string {
  const block = (json: string): string => {
    const pretty = indentJson(json)
    const longest = Math.max(2, ...[...pretty.matchAll(/`+/g)].map(([run]) => run.length))
    const fence = '`'.repeat(longest + 1)
    return `${fence}json\n${pretty}\n${fence}`
  }
  const parts = [`### ${title.replaceAll(/([\\`*_{}[\]<>#|])/g, '\\$1')}`, block(text)]
  if (answer !== undefined) parts.push('Answer:', block(answer))
  return `${parts.join('\n\n')}\n`
}
