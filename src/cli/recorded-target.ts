import { WiretapeError, type Session } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { escapeText } from '../render/index.js'

/** How to reach a recorded server. */
export type RecordedTarget = { readonly command: readonly string[] } | { readonly url: string }

/**
 * The server of a recording, or the one named instead.
 *
 * @param command named by the user; empty for the recorded one
 * @throws WiretapeError `usage` if the recording does not name it, or only redacted
 */
export function recordedTarget(
  session: Pick<Session, 'command' | 'url'>,
  command: readonly string[],
  name: string,
): RecordedTarget {
  if (command.length > 0) return { command }
  const target = session.url === null ? { command: session.command } : { url: session.url }
  if ('command' in target && target.command.length === 0)
    throw new WiretapeError('usage', `${escapeText(name)} does not contain the command of its server`, {
      hint: 'add -- COMMAND',
    })
  const words = 'command' in target ? target.command : [target.url]
  if (words.some((word) => word.includes(redactionMarker)))
    throw new WiretapeError('usage', 'a secret in the recorded command or URL is redacted', {
      hint: 'add -- COMMAND',
    })
  return target
}
