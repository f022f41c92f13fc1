const units: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 }

/** Bytes of a size with a unit: `500MB`, `2 GB`. Undefined for anything else. */
export function parseSizeBytes(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})\s?([kmgt]b)$/i.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit.toLowerCase()]!
}
