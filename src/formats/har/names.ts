/**
 * Where messages of stdio are said to have gone: HAR knows HTTP only. `.invalid` belongs to nobody (RFC 2606).
 */
export const stdioHost = 'http://stdio.invalid/'
