import { serveStream } from '../../mock/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { createMcpServer } from '../mcp/server.js'
import { createToolbox } from '../mcp/tools.js'
import { readVersion } from '../version.js'

export interface McpOptions {
  /** Bytes of JSON that one call returns at most. */
  readonly budget: number
}

/** Serves one client on stdin and stdout until it leaves. */
export async function runMcp(options: McpOptions, io: Io): Promise<number> {
  const server = createMcpServer({ version: readVersion(), toolbox: createToolbox(options.budget, io) })
  const served = serveStream({
    input: process.stdin,
    output: process.stdout,
    open: (sink) => server.open(sink),
    notice: (line) => void io.complain(line),
  })
  await served.ended
  return exitCode.done
}
