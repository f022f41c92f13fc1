/** Pseudo URL for stdio messages: HAR knows HTTP only. `.invalid` is reserved (RFC 2606). */
export const stdioHost = 'http://stdio.invalid/'
