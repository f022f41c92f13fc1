/** Names of the formats that can be imported. */
export const transcriptFormats = ['inspector', 'jsonrpc', 'streamable-http', 'http-sse'] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]
