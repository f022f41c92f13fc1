/** Real pipes to a child: Node itself connects children by socket pairs, and has no pipe(2). */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants

export interface Pipes {
  /** Descriptors for the child's stdin, stdout and stderr. */
  readonly theirs: number[]
  readonly ours: [net.Socket, net.Socket, net.Socket]
}

export function makePipes(): Pipes {
  const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-pipes-'))
  const paths = ['in', 'out', 'err'].map((name) => join(folder, name))
  spawnSync('mkfifo', paths)
  // Both sides stay open here; otherwise opening one side would wait for the other.
  const both = paths.map((path) => openSync(path, O_RDWR | O_NONBLOCK))
  const theirs = paths.map((path, i) => openSync(path, i === 0 ? O_RDONLY : O_WRONLY))
  const ours = paths.map((path, i) => {
    const fd = openSync(path, (i === 0 ? O_WRONLY : O_RDONLY) | O_NONBLOCK)
    const socket = new net.Socket({ fd, readable: i > 0, writable: i === 0 })
    if (i === 0) socket.once('finish', () => socket.destroy())
    return socket
  })
  closeAll(both)
  rmSync(folder, { recursive: true })
  return { theirs, ours: ours as Pipes['ours'] }
}

export function closeAll(fds: readonly number[]): void {
  for (const fd of fds) closeSync(fd)
}
