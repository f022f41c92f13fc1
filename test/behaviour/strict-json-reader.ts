/** A strict reader of other makers for JSON files: Python's, with the limits of pydantic, which reads session files. */
import { spawnSync } from 'node:child_process'

const program = `
import json, sys
def fail(text): raise ValueError(text)
def depth(value):
    deepest, level = 0, [value]
    while level:
        deepest += 1
        below = []
        for each in level:
            if isinstance(each, dict):
                for name in each: name.encode("utf-8")
                below += each.values()
            elif isinstance(each, list): below += each
            elif isinstance(each, str): each.encode("utf-8")
        level = below
    return deepest - 1
value = json.loads(open(sys.argv[1], "rb").read().decode("utf-8"), parse_constant=fail)
if depth(value) > 200: fail("nested %d deep" % depth(value))
print("fine")
`

/** "fine", or the reader's error. */
export function strictReader(path: string): string {
  const { stdout, stderr } = spawnSync('python3', ['-c', program, path], { encoding: 'utf8' })
  return stdout.trim() || (stderr.trim().split('\n').at(-1) ?? '')
}

export const hasPython = spawnSync('python3', ['--version']).status === 0
