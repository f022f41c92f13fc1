import { registryFolderIn } from '../../capture/index.js'
import { attachTo, findCapture, Refusal } from '../../control/index.js'
import { countOf } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'

/** Restarts the server of a live capture. Returns the exit status. */
export async function runReload(name: string | undefined, io: Io): Promise<number> {
  const capture = await findCapture(registryFolderIn(io.dataFolder), name)
  const connection = await attachTo(capture, { role: 'onlooker', name: 'wiretape reload' })
  try {
    const { count = 0 } = await connection.send({ type: 'reload' })
    await io.write(
      `${capture.label}: restarted${count === 1 ? '' : ` (${countOf(count, 'process', 'processes')})`}\n`,
    )
    return exitCode.done
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await io.complain(`${capture.label}: ${error.failure.message}`, error.failure.hint)
    return error.failure.code === 'invalid' ? exitCode.usage : exitCode.found
  } finally {
    connection.close()
  }
}
