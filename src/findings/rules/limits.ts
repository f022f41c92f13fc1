/** Limits of what a rule remembers, since a recording may have no end. */

/** Ids, conversations and tags that were used. */
export const mostUsed = 50_000
/** Sessions, tokens and states that something may still follow. */
export const mostOpen = 10_000
