import type { Diagnostic } from '../model/index.js'
import { openFile, type PlainFile } from '../tape/index.js'
import { inFile } from './named-file.js'
import { createSpools, notUnpacked, plainFile } from './spools.js'

/** One file that is to be read, whatever it is. */
export interface OpenInput extends PlainFile {
  /** As the user named it. */
  readonly name: string
  /** What is wrong with it, apart from its content. */
  readonly fault?: Diagnostic
  close(): Promise<void>
}

/**
 * @param argument a path, or `-` for stdin; what is packed is unpacked, and has to be whole
 * @throws WiretapeError that names the file as the user did
 */
export async function openInput(argument: string, cwd: string): Promise<OpenInput> {
  const spools = createSpools()
  try {
    const { name, path, fault } = await plainFile(argument, cwd, spools, false)
    if (fault?.severity === 'error') throw notUnpacked(name, fault.message)
    try {
      const file = await openFile(path)
      return { ...file, name, ...(fault && { fault }), close: () => spools.close() }
    } catch (error) {
      throw inFile(error, name, path)
    }
  } catch (error) {
    await spools.close()
    throw error
  }
}
