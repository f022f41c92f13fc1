const units: Readonly<Record<string, number>> = { '': 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9 }

/**
 * Bytes of an option such as `--max-bytes 50MB`.
 *
 * @throws Error with a readable message
 */
export function parseSize(value: string): number {
  const match = /^(\d{1,15})\s?([a-z]{0,2})$/i.exec(value)
  const unit = match && units[match[2]!.toLowerCase()]
  const size = match && unit ? Number(match[1]) * unit : 0
  if (size < 1000) throw new Error('Use a size of at least 1kB, such as 500kB, 50MB or 2GB.')
  return size
}
