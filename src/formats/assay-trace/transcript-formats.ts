/** Names of the importable formats. */
export const transcriptFormats = ['inspector', 'jsonrpc', 'streamable-http', 'http-sse'] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]
