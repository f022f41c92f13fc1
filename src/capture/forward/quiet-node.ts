import { join } from 'node:path'
import { readIfThere, replace } from '../trust/local-ca.js'

/**
 * Node 22 warns on stderr that `NODE_USE_ENV_PROXY`, which we set, is experimental. Each Node process of a client loads
 * this script first: it suppresses that warning, and removes itself once the process has started. The option
 * `--disable-warning` would end older versions of Node.
 */
const preload = `const { emit } = process
function quiet(name, warning, ...rest) {
  if (name === 'warning' && warning && warning.code === 'UNDICI-EHPA') return false
  return Reflect.apply(emit, this, [name, warning, ...rest])
}
process.emit = quiet
setImmediate(() => {
  if (process.emit === quiet) process.emit = emit
}).unref()
`

/**
 * `NODE_OPTIONS` of a client, extended to suppress that warning.
 *
 * @param folder for the script
 * @param before the value in the client's environment
 */
export function quietNodeOptions(folder: string, before = ''): string {
  const path = join(folder, 'quiet-node.cjs')
  if (readIfThere(path) !== preload) replace(path, preload, 0o644)
  const quoted = `"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  const option = `--require ${quoted}`
  if (before.includes(option)) return before
  return before === '' ? option : `${before} ${option}`
}
