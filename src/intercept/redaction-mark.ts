/** The marker of `redaction`, which is no door of ours: what the tape has in the place of a secret. */
export const redactionMark = '[REDACTED]'
