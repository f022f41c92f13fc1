import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** A client that supports sampling and elicitation. @param more further capabilities to declare */
export function createAnsweringClient(more: { readonly roots?: object } = {}): Client {
  const client = new Client(
    { name: 'c', version: '1' },
    { capabilities: { sampling: {}, elicitation: {}, ...more } },
  )
  answerRequests(client, 'sampled')
  return client
}

/** Responds to sampling and elicitation. */
export function answerRequests(client: Client, sampled: string): void {
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: sampled },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'Ada', check: true },
  }))
}
