/**
 * The longest message, body or event that is read whole, in bytes. Longer ones are forwarded unread; recorders leave a
 * gap with their size and hash.
 */
export const longestMessage = 64 << 20
