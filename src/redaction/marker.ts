/** Replaces a secret, in text and (quoted) in JSON. */
export const marker = '[REDACTED]'
