import type { Diagnostic } from '../model/index.js'
import { openFile, type PlainFile } from '../tape/index.js'
import { inFile } from './named-file.js'
import { createSpools, notUnpacked, plainFile } from './spools.js'

/** An input file of any kind. */
export interface OpenInput extends PlainFile {
  /** As the user named it. */
  readonly name: string
  /** Problem other than with its content. */
  readonly fault?: Diagnostic
  close(): Promise<void>
}

/**
 * @param argument a path, or `-` for stdin; compressed input is unpacked and must be complete
 * @throws WiretapeError with the user's name of the file
 */
export async function openInput(argument: string, cwd: string): Promise<OpenInput> {
  const spools = createSpools()
  try {
    const { name, path, fault } = await plainFile(argument, cwd, spools, false)
    if (fault?.severity === 'error') throw notUnpacked(name, fault.message)
    try {
      const file = openFile(path)
      return { ...file, name, ...(fault && { fault }), close: () => spools.close() }
    } catch (error) {
      throw inFile(error, name, path)
    }
  } catch (error) {
    await spools.close()
    throw error
  }
}
