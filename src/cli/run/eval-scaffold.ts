import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { systemReason } from '../system-reason.js'

export const scaffoldName = 'mcp-eval.yaml'

/**
 * Writes the evaluation file of `--init` into the current folder. An existing file stays unchanged.
 *
 * @returns whether it was written
 * @throws WiretapeError `unwritable`
 */
export async function createScaffold(tools: Iterable<string>, cwd: string): Promise<boolean> {
  try {
    await writeFile(resolve(cwd, scaffoldName), scaffoldOf(tools), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new WiretapeError('unwritable', `cannot write ${scaffoldName}: ${systemReason(error)}`, {
      cause: error,
    })
  }
}

/** Two tests: the arguments of every tool, and that each is called. */
function scaffoldOf(tools: Iterable<string>): string {
  // By code point, like importers.
  const names = [...tools].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const head = ['configVersion: 1', 'suite: mcp-suite', 'model: mcp-replay', 'settings:', '  parallel: 1']
  if (names.length === 0) return [...head, 'tests: []', '# No tools found in trace.', ''].join('\n')
  const schemas = names.flatMap((name) => [
    `        ${keyOf(name)}:`,
    '          type: object',
    '          additionalProperties: true',
    '          properties: {}',
  ])
  const rules = names.flatMap((name) => [
    '        - type: require',
    `          tool: ${JSON.stringify(name)}`,
  ])
  const lines = [
    ...head,
    'tests:',
    ...testOf('mcp-quality-gate', 'args_valid'),
    '      schema:',
    ...schemas,
    ...testOf('mcp-sequence-gate', 'sequence_valid'),
    '      rules:',
    ...rules,
  ]
  return `${lines.join('\n')}\n`
}

function testOf(id: string, type: string): string[] {
  return [
    `  - id: ${id}`,
    '    input:',
    '      prompt: "<mcp:session>"',
    '    expected:',
    `      type: ${type}`,
  ]
}

/** A name as a YAML key, quoted if YAML would misread it. */
function keyOf(name: string): string {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(name)
  return isPlain ? name : JSON.stringify(name)
}
