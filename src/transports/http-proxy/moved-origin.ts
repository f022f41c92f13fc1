/** Scheme and authority at the start of an absolute URL. */
const authority = /^https?:\/\/[^/?#\\@\s]*/i

/** `url` with the origin `from` replaced by `to`; undefined when it is not on `from`. */
export function movedOrigin(url: string, from: string, to: string): string | undefined {
  const start = authority.exec(url)?.[0]
  if (start === undefined || !URL.canParse(start) || new URL(start).origin !== from) return undefined
  const rest = url.slice(start.length)
  return rest === '' || /^[/?#]/.test(rest) ? to + rest : undefined
}
