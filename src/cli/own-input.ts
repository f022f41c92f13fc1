import { fstatSync, statSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { escapeText } from '../render/index.js'

/**
 * Refuses an output that is also an input, under any name, since the input would be lost.
 *
 * @param output as the user named it; `-` is stdout
 * @param inputs as the user named them; `-` is stdin
 * @param option that names the output, as the user wrote it
 * @throws WiretapeError `usage`
 */
export function refuseOwnInput(
  output: string,
  inputs: readonly string[],
  option: string,
  { cwd }: { readonly cwd: string },
): void {
  if (output === '-') return
  const written = statOf(() => statSync(resolve(cwd, output)))
  if (!written?.isFile()) return
  for (const input of inputs) {
    const read = statOf(() => (input === '-' ? fstatSync(0) : statSync(resolve(cwd, input))))
    if (read?.dev !== written.dev || read.ino !== written.ino) continue
    throw new WiretapeError('usage', `${option} ${escapeText(output)} is also the input`, {
      hint: 'choose another output file',
    })
  }
}

/**
 * Refuses outputs that would replace each other.
 *
 * @throws WiretapeError `usage`
 */
export function refuseTwice(
  outputs: readonly { readonly option: string; readonly file: string }[],
  { cwd }: { readonly cwd: string },
): void {
  const seen = new Map<string, string>()
  for (const { option, file } of outputs) {
    if (file === '-') continue
    const path = resolve(cwd, file)
    const before = seen.get(path)
    if (before !== undefined) {
      throw new WiretapeError(
        'usage',
        `${escapeText(before)} and ${escapeText(option)} write the same file`,
        {
          hint: 'choose a different file for each',
        },
      )
    }
    seen.set(path, option)
  }
}

function statOf(look: () => Stats): Stats | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
