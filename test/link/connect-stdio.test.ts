import { describe, expect, it } from 'vitest'
import { connectStdio } from '../../src/link/index.js'

describe('a server that leaves a process behind, which holds its stdout', () => {
  it.skipIf(process.platform === 'win32')('is left when it has ended', async () => {
    let said = (_text: string): void => undefined
    const line = new Promise<string>((resolve) => (said = resolve))
    const connection = await connectStdio(['sh', '-c', 'sleep 3600 & echo $!; exec cat'], {
      message: said,
      stderr: () => undefined,
      failed: () => undefined,
      ended: () => undefined,
    })
    if ('error' in connection) throw new Error(connection.error)
    const left = Number(await line)
    await connection.close()
    // The process still ran: the link did not wait for its hour to pass.
    expect(() => process.kill(left, 'SIGKILL')).not.toThrow()
  })
})
