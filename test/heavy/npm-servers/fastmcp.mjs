// @ts-nocheck The package is installed beside a copy of this file.
/** A server made with fastmcp: text, JSON in text, and an id that changes with every run. */
import { randomUUID } from 'node:crypto'
import { FastMCP } from 'fastmcp'
import { z } from 'zod'

const server = new FastMCP({ name: 'tea shop', version: '1.0.0' })
const orders = new Map()
server.addTool({
  name: 'price',
  description: 'What a tea costs',
  parameters: z.object({ tea: z.string() }),
  execute: async ({ tea }) => `${tea} costs 4.50 EUR`,
})
server.addTool({
  name: 'order',
  description: 'Orders a tea',
  parameters: z.object({ tea: z.string() }),
  execute: async ({ tea }) => {
    const id = randomUUID()
    orders.set(id, tea)
    return JSON.stringify({ id, tea, at: new Date().toISOString() })
  },
})
server.addTool({
  name: 'show',
  description: 'Shows an order',
  parameters: z.object({ id: z.string() }),
  execute: async ({ id }) => `order ${id}: ${orders.get(id) ?? 'unknown'}`,
})
await server.start({ transportType: 'stdio' })
