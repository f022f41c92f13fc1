/** The three pipes of a stdio server: what the client writes, what the server answers, what it logs. */
export type Channel = 'in' | 'out' | 'err'

export const channels: readonly Channel[] = ['in', 'out', 'err']
