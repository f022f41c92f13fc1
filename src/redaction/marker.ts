/** What stands in the place of a secret, in text and (quoted) in JSON. */
export const marker = '[REDACTED]'
