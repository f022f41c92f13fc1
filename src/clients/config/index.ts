import { parseJsonConfig } from './json.js'
import { parseTomlConfig } from './toml.js'
import type { ConfigSyntax, ParsedConfig } from './tree.js'
import { parseYamlConfig } from './yaml.js'

export { applySplices, createSplicer, type Splice, type Splicer } from './splice.js'
export { memberOf, nodeAt, nodeText, textsOf, type ConfigNode, type ConfigSyntax } from './tree.js'

const parsers = { json: parseJsonConfig, yaml: parseYamlConfig, toml: parseTomlConfig }

/** Never throws on bad input: `fault` has the place of the syntax error. */
export function parseConfig(text: string, syntax: ConfigSyntax): ParsedConfig {
  try {
    return parsers[syntax](text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { fault: { reason: 'the values are nested too deeply', line: 1, column: 1 } }
  }
}
