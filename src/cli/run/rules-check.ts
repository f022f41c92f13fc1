import { resolve } from 'node:path'
import { loadRules, type LoadedRules } from '../../intercept/index.js'
import { countOf, createStyle, escapeText, type Style } from '../../render/index.js'
import { placeOf } from '../diagnostics.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'

export interface RulesCheckOptions {
  readonly json?: boolean
}

export async function runRulesCheck(
  files: readonly string[],
  options: RulesCheckOptions,
  io: Io,
): Promise<number> {
  const all: { readonly name: string; readonly loaded: LoadedRules }[] = []
  for (const file of files) {
    const name = file === '-' ? 'stdin' : file
    const given = file === '-' ? process.stdin : undefined
    all.push({ name, loaded: await loadRules(resolve(io.cwd, name), given) })
  }
  const unreadable = all.filter(({ loaded }) => loaded.diagnostics[0]?.code === 'unreadable')
  const checked = all.filter((one) => !unreadable.includes(one))
  if (options.json) {
    const text = JSON.stringify(all.map(jsonOf), undefined, 2)
    await io.write(`${text}\n`, 'data')
  } else {
    const style = createStyle(io.colours)
    for (const { name, loaded } of checked) await io.write(reportOf(name, loaded, style))
  }
  for (const { name, loaded } of unreadable) await io.complain(`${name} ${loaded.diagnostics[0]!.message}`)
  if (unreadable.length > 0) return exitCode.usage
  return checked.some(({ loaded }) => !loaded.parsed) ? exitCode.found : exitCode.done
}

function reportOf(name: string, { parsed, described, diagnostics }: LoadedRules, style: Style): string {
  const file = escapeText(name)
  if (!parsed) {
    const head = `${style.red('✗')} ${file}: ${countOf(diagnostics.length, 'fault')}`
    const lines = diagnostics.map(
      (diagnostic) => `  ${file}${placeOf(diagnostic)}: ${escapeText(diagnostic.message)}`,
    )
    return `${[head, ...lines].join('\n')}\n`
  }
  const lines = described.map(
    (rule) =>
      `  ${style.bold(escapeText(rule.name))}: ${escapeText(rule.when)}\n    ${escapeText(rule.does)}`,
  )
  const head = `${style.green('✓')} ${file}: ${countOf(described.length, 'rule')}, seed ${parsed.seed}`
  return `${[head, ...lines].join('\n')}\n`
}

/** See docs/schemas/rules-check.schema.json. */
function jsonOf({ name, loaded }: { readonly name: string; readonly loaded: LoadedRules }): unknown {
  const { parsed, described, diagnostics } = loaded
  return {
    version: 1,
    file: name,
    seed: parsed?.seed ?? null,
    rules: described,
    faults: diagnostics.map(({ at, message }) => ({
      line: at?.line ?? null,
      column: at?.column ?? null,
      message,
    })),
  }
}
