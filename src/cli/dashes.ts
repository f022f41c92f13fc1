import type { Command } from 'commander'

/** The parser drops `--`; the words after it are the last ones. */
export function splitAtDashes(
  words: readonly string[],
  program: Command,
): { readonly before: string[]; readonly command: string[] } {
  const { rawArgs } = program as Command & { readonly rawArgs: readonly string[] }
  const dashes = rawArgs.indexOf('--')
  const count = dashes === -1 ? 0 : rawArgs.length - dashes - 1
  const at = words.length - count
  return { before: words.slice(0, at), command: words.slice(at) }
}
