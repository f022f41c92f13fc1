import { join } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { diskReason } from '../tape/index.js'
import { storedSecret, type Access } from '../transports/index.js'
import type { Io } from './io.js'

/**
 * Access to our listeners: `--open-to-all-users`, and the secret of this label and port for clients whose user the
 * system cannot identify.
 *
 * @param port as the user named it; 0 for any
 */
export function accessOf(
  openToAllUsers: boolean | undefined,
  label: string,
  port: number,
  io: Pick<Io, 'dataFolder'>,
): Access {
  const folder = join(io.dataFolder, 'access')
  return {
    openToAllUsers: openToAllUsers === true,
    secret() {
      try {
        return storedSecret(folder, label, port)
      } catch (cause) {
        throw new WiretapeError('unwritable', `cannot keep a secret in ${folder}: ${diskReason(cause)}`, {
          cause,
        })
      }
    },
  }
}
