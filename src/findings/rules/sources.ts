/** Sources of the rules. */
const spec = (version: string, page: string, name: string): { name: string; url: string } => ({
  name: `MCP ${version}, ${name}`,
  url: `https://modelcontextprotocol.io/specification/${version}/${page}`,
})

export const sources = {
  jsonRpc: { name: 'JSON-RPC 2.0', url: 'https://www.jsonrpc.org/specification' },
  base: spec('2025-11-25', 'basic', 'Overview'),
  lifecycle: spec('2025-11-25', 'basic/lifecycle', 'Lifecycle'),
  transports: spec('2025-11-25', 'basic/transports', 'Transports'),
  authorization: spec('2025-11-25', 'basic/authorization', 'Authorization'),
  progress: spec('2025-11-25', 'basic/utilities/progress', 'Progress'),
  cancellation: spec('2025-11-25', 'basic/utilities/cancellation', 'Cancellation'),
  tools: spec('2025-11-25', 'server/tools', 'Tools'),
  elicitation: spec('2025-11-25', 'client/elicitation', 'Elicitation'),
  modern: spec('2026-07-28', 'basic', 'Overview'),
  modernTransports: spec('2026-07-28', 'basic/transports', 'Transports'),
  modernRounds: spec('2026-07-28', 'basic/patterns/mrtr', 'Multi round-trip requests'),
  batch: spec('2025-06-18', 'changelog', 'Key changes'),
  security: spec('2025-11-25', 'basic/security_best_practices', 'Security best practices'),
  schema: {
    name: 'MCP, JSON Schema of each revision',
    url: 'https://github.com/modelcontextprotocol/modelcontextprotocol/tree/main/schema',
  },
  owasp: { name: 'OWASP MCP Top 10 (2025, beta)', url: 'https://owasp.org/www-project-mcp-top-10/' },
} as const
