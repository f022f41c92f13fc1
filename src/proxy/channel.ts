import type { Direction } from '../model/index.js'

/** The three pipes of a stdio server: client to server, server to client, and the server's log. */
export type Channel = 'in' | 'out' | 'err'

export const channels: readonly Channel[] = ['in', 'out', 'err']

export function directionOf(channel: Channel): Direction {
  return channel === 'in' ? 'client_to_server' : 'server_to_client'
}
