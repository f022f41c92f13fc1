// @ts-nocheck The package is installed beside a copy of this file.
/** A server made with mcp-framework: structured text and a counter. */
import { MCPServer, MCPTool } from 'mcp-framework'
import { z } from 'zod'

const rows = []
class Add extends MCPTool {
  name = 'add_row'
  description = 'Adds a row'
  schema = { text: { type: z.string(), description: 'what it says' } }
  async execute({ text }) {
    rows.push(text)
    return { row: rows.length, text, process: process.pid }
  }
}
class List extends MCPTool {
  name = 'list_rows'
  description = 'Lists the rows'
  schema = { word: { type: z.string(), description: 'in them' } }
  async execute({ word }) {
    return { rows: rows.filter((text) => text.includes(word)) }
  }
}
const server = new MCPServer({ name: 'rows', version: '1.0.0', basePath: import.meta.dirname })
server.addTool?.(Add)
server.addTool?.(List)
await server.start()
