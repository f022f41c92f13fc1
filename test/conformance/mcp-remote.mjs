// @ts-check
/** mcp-remote, a bridge from a client on stdio to a server over HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

/**
 * Uses a server through mcp-remote; returns the outcome of each step.
 *
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} url
 * @param {'http-only' | 'sse-only'} transport
 * @param {string} tool A tool that reports progress.
 * @param {string} home
 */
export async function useMcpRemote({ node, packageFile }, url, transport, tool, home) {
  const client = new Client({ name: 'conformance', version: '1.0.0' })
  const args = [
    packageFile('mcp-remote/dist/proxy.js'),
    url,
    '--transport',
    transport,
    '--allow-http',
    '--silent',
  ]
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, MCP_REMOTE_CONFIG_DIR: home }
  /** @type {unknown[]} */
  const outcomes = []
  /** @param {() => Promise<unknown>} run */
  const step = async (run) => {
    outcomes.push(await run().catch((error) => String(error)))
  }
  try {
    await client.connect(new StdioClientTransport({ command: node, args, env, stderr: 'ignore' }))
    outcomes.push(client.getServerVersion(), client.getServerCapabilities())
    await step(() => client.listTools())
    await step(() => client.listResources())
    await step(() => client.listPrompts())
    await step(() =>
      client.callTool({ name: tool, arguments: { duration: 0.2, steps: 2 } }, undefined, {
        onprogress: () => undefined,
      }),
    )
    await step(() => client.callTool({ name: 'no-such-tool', arguments: {} }))
    await step(() => client.readResource({ uri: 'nothing://nowhere' }))
    await step(() => client.ping())
  } finally {
    await client.close()
  }
  return outcomes
}
