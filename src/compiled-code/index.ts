import { isAscii } from 'node:buffer'
import fs from 'node:fs'
import module, { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import vm from 'node:vm'
import zlib from 'node:zlib'

/** Part of Node's modules that is not in its types. */
interface Loading {
  readonly _extensions: Record<'.js', (loaded: { exports: unknown }, path: string) => void>
}

const checksumBytes = 4
const shebang = Buffer.from('#!')

/**
 * Keeps V8's compiled code of the program's files between runs, for Node before 22.8, which cannot do so itself. Call
 * it before the files are loaded. The code includes functions that were compiled until the exit of the first run.
 *
 * @param folder beside the files of the program, so that only an owner of the program can change the code; without it,
 *   nothing is kept
 */
export function keepCompiledCode(folder: string): void {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env
  if (NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE || !fs.existsSync(folder)) return
  const program = dirname(folder)
  const suffix = `-${ofThisNode()}`
  const fresh = new Map<string, { script: vm.Script; bytes: Buffer }>()
  const { _extensions: loaders } = module as unknown as Loading
  const usual = loaders['.js']
  loaders['.js'] = (loaded, path) => {
    const bytes = dirname(path) === program ? fs.readFileSync(path) : undefined
    // Kept code cannot contain `import()`. An entry starts with `#!`.
    if (!bytes || bytes.subarray(0, 2).equals(shebang) || bytes.includes('import('))
      return usual(loaded, path)
    const file = join(folder, basename(path) + suffix)
    const cachedData = readCode(file, bytes)
    // The build escapes all other characters. Reading UTF-8 takes ten times as long.
    const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString()
    const script = new vm.Script(module.wrap(text), { filename: path, ...(cachedData && { cachedData }) })
    if (!cachedData || script.cachedDataRejected) fresh.set(file, { script, bytes })
    const run = script.runInThisContext() as (...args: unknown[]) => unknown
    run.call(loaded.exports, loaded.exports, createRequire(path), loaded, path, program)
  }
  process.once('exit', () => {
    for (const [file, { script, bytes }] of fresh) writeCode(file, bytes, script)
  })
}

/**
 * V8's own tag is not enough: Node 20.19.0 and 20.20.2 have the same one, and the code of one ends the other with a
 * segmentation fault. Two builds of one version differ in the size or the time of the program.
 */
function ofThisNode(): string {
  const { size, mtimeMs } = fs.statSync(process.execPath)
  const { version, arch } = process
  return [version, arch, size, Math.round(mtimeMs)].join('-')
}

/** V8 checks neither the text nor the code: the checksum does, as in Node's own cache. */
function readCode(file: string, text: Uint8Array): Buffer | undefined {
  try {
    const kept = fs.readFileSync(file)
    const code = kept.subarray(checksumBytes)
    return checksum(text, code).equals(kept.subarray(0, checksumBytes)) ? code : undefined
  } catch {
    return undefined
  }
}

/** A folder that cannot be written keeps nothing. */
function writeCode(file: string, text: Uint8Array, script: vm.Script): void {
  const beside = `${file}.${process.pid}`
  try {
    fs.accessSync(dirname(file), fs.constants.W_OK)
    const code = script.createCachedData()
    fs.writeFileSync(beside, Buffer.concat([checksum(text, code), code]), { mode: 0o600 })
    fs.renameSync(beside, file)
  } catch {
    try {
      fs.rmSync(beside, { force: true })
    } catch {
      // The folder belongs to another user, so nothing was written.
    }
  }
}

function checksum(text: Uint8Array, code: Uint8Array): Buffer {
  const bytes = Buffer.alloc(checksumBytes)
  bytes.writeUInt32BE(zlib.crc32(code, zlib.crc32(text)))
  return bytes
}
