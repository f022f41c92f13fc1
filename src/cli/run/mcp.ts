import { serveStream } from '../../mock/index.js'
import { startStdioBridge } from '../../link/index.js'
import { accessOf } from '../access.js'
import { exitCode } from '../exit-codes.js'
import { onInterrupt } from '../interrupt.js'
import { say, type Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import { createMcpServer } from '../mcp/server.js'
import { createToolbox } from '../mcp/tools.js'
import { readVersion } from '../version.js'

export interface McpOptions {
  /** Most bytes of JSON that one call returns. */
  readonly budget: number
  readonly listen?: string
  /** Adds tools that start recorded servers. */
  readonly allowRun?: boolean
}

/** Serves one client on stdin and stdout until it disconnects, or over HTTP until a signal arrives. */
export async function runMcp(options: McpOptions, io: Io): Promise<number> {
  return options.listen === undefined ? onStdio(options, io) : overHttp(options, io)
}

async function onStdio(options: McpOptions, io: Io): Promise<number> {
  const server = createMcpServer({
    version: readVersion(),
    toolbox: createToolbox(options.budget, options.allowRun === true, io),
  })
  const served = serveStream({
    input: process.stdin,
    output: process.stdout,
    open: (sink) => server.open(sink),
    notice: (line) => void io.complain(line),
  })
  await served.ended
  return exitCode.done
}

/** Each session is a stdio process of this program, behind the listener for recordings of stdio servers. */
async function overHttp({ listen, budget, allowRun }: McpOptions, io: Io): Promise<number> {
  const { host, port } = parseListen(listen)
  const interrupt = onInterrupt()
  const bridge = await startStdioBridge({
    command: [
      process.execPath,
      process.argv[1]!,
      'mcp',
      '--budget',
      String(budget),
      ...(allowRun ? ['--allow-run'] : []),
    ],
    shared: false,
    listen: { host, port, access: accessOf(false, 'mcp', port, io) },
    onErrors: (chunk) => say(chunk.toString()),
    onStray: () => undefined,
    onUnheard: () => undefined,
    onNotice: (line) => void io.complain(line),
  })
  try {
    await io.write(`${bridge.url.origin}${bridge.prefix}${bridge.url.pathname}\n`)
    await io.flush()
    await io.complain('serving; give clients the URL above, end with Ctrl+C')
    if (!interrupt.signal.aborted)
      await new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve, { once: true }))
    return interrupt.exitCode()
  } finally {
    await bridge.close()
    interrupt.close()
  }
}
