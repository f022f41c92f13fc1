/**
 * Runs command lines of the built program in one process, one after another. Starting Node and loading the program
 * takes most of the time of a short command. Each command gets the program's own entry, arguments, environment and
 * folder. It ends when a process of its own would: when nothing keeps it alive. A bug that ends the program ends this
 * process too.
 */
import { createRequire } from 'node:module'

const [, , cli = ''] = process.argv
const load = createRequire(cli)
/** @returns {import('node:events').EventEmitter[]} */
const emitters = () => [process, process.stdout, process.stderr]

process.on('disconnect', () => process.exit(0))
/** @typedef {{ args: string[], cwd: string, env: Record<string, string>, mark: string }} Command */

process.on('message', (command) => void runOne(/** @type {Command} */ (command)))

/** @param {Command} command */
async function runOne({ args, cwd, env, mark }) {
  const before = emitters().map((emitter) => listenersOf(emitter))
  const alive = countAlive()
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, cli, ...args]
  process.exitCode = undefined
  delete load.cache[cli]
  await load(cli).finished
  while (isAlive(alive)) await new Promise((resolve) => setImmediate(resolve))
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  for (const [i, emitter] of emitters().entries()) removeNew(emitter, before[i])
  for (const stream of [process.stdout, process.stderr])
    await new Promise((resolve) => stream.write(mark, resolve))
  process.send?.({ code })
}

/** @param {import('node:events').EventEmitter} emitter */
function listenersOf(emitter) {
  return new Map(emitter.eventNames().map((name) => [name, new Set(emitter.rawListeners(name))]))
}

/** @param {import('node:events').EventEmitter} emitter @param {ReturnType<typeof listenersOf> | undefined} before */
function removeNew(emitter, before) {
  for (const name of emitter.eventNames())
    for (const listener of emitter.rawListeners(name))
      if (!before?.get(name)?.has(listener))
        emitter.removeListener(name, /** @type {() => void} */ (listener))
}

/** Resources that keep this process alive, by kind. */
function countAlive() {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const kind of process.getActiveResourcesInfo())
    if (kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** @param {ReadonlyMap<string, number>} before */
function isAlive(before) {
  return [...countAlive()].some(([kind, number]) => number > (before.get(kind) ?? 0))
}
