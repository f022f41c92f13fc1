import v8 from 'node:v8'

const name = '--max-inlined-bytecode-size-cumulative'
const usual = 920

/**
 * With usual inlining, the engine's compiler works as long on a flood of 30,000 messages as the recorder does, and the
 * result is no faster. The setting holds for the whole process, whose main thread does little on pipes. The engine
 * accepts kept code only with the settings of its compilation. So this comes after a thread has started, which runs
 * kept code of Node, and ends before the exit, when code is kept.
 */
export function inlineLess(): void {
  v8.setFlagsFromString(`${name}=300`)
  process.prependOnceListener('exit', () => v8.setFlagsFromString(`${name}=${usual}`))
}
