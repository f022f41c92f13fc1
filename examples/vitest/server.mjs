// A small MCP server on stdio, for the example's tests.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const currency = process.argv[2] ?? 'EUR'
const server = new McpServer({ name: 'shop', version: '1.0.0' })
server.registerTool(
  'price',
  { description: 'Tells what something costs', inputSchema: { item: z.string() } },
  ({ item }) => ({ content: [{ type: 'text', text: JSON.stringify({ item, price: 4.5, currency }) }] }),
)
await server.connect(new StdioServerTransport())
