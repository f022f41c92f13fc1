import { basename, dirname, join, resolve } from 'node:path'
import { segmentsBeside } from '../tape/index.js'

/**
 * The files to read for these names: any segment of a rotated recording means all existing ones. Each is named as the
 * user would.
 *
 * @param names of files; `-` is stdin
 */
export async function withSegments(names: readonly string[], cwd: string): Promise<string[]> {
  const all = [...names]
  const paths = new Set(names.map((name) => resolve(cwd, name)))
  for (const name of names) {
    if (name === '-') continue
    for (const path of await segmentsBeside(resolve(cwd, name))) {
      if (paths.has(path)) continue
      paths.add(path)
      all.push(join(dirname(name), basename(path)))
    }
  }
  return all
}
