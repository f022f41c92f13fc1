/** The marker of `redaction`, which this folder does not import: replaces secrets on the tape. */
export const redactionMark = '[REDACTED]'
