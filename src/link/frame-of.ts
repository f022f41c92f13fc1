import type { Envelope } from '../model/index.js'
import type { Message } from '../wire/index.js'
import type { ClientFrame } from './link.js'

/** A frame of one message. */
export function frameOf({ text, envelope }: Message): ClientFrame {
  return { text, ...saidBy(envelope), requests: envelope.kind === 'request' ? 1 : 0 }
}

/** The metadata that a link needs of a message sent alone. */
export function saidBy({
  kind,
  id,
  method,
  subject,
  protocolVersion,
  modern,
}: Envelope): Omit<ClientFrame, 'text' | 'requests'> {
  return {
    ...(kind === 'request' && id !== undefined && { id }),
    ...(method !== undefined && { method }),
    ...(subject !== undefined && { name: subject }),
    ...(modern && protocolVersion !== undefined && { protocolVersion }),
  }
}
