/** Range of integers that importers preserve: 64 bits, signed or unsigned. */
const lowest = -(2n ** 63n)
const highest = 2n ** 64n - 1n

/**
 * A number in the form that importers of transcripts print, from exact JSON text: 64-bit integers are unchanged,
 * everything else is a double with the shortest digits (`1.0`, `1e+16`, `1.5e-7`).
 */
export function numberText(text: string): string {
  if (isInteger(text)) return text
  const value = Number(text)
  if (Object.is(value, -0)) return '-0.0'
  if (value === 0) return '0.0'
  const [, sign = '', head = '', fraction = '', exponent = '0'] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()) ?? []
  const digits = head + fraction
  /** Digits before the point. */
  const whole = Number(exponent) + 1
  if (whole > 16 || whole <= -5) {
    const point = fraction === '' ? '' : `.${fraction}`
    return `${sign}${head}${point}e${exponent}`
  }
  if (whole <= 0) return `${sign}0.${'0'.repeat(-whole)}${digits}`
  if (whole >= digits.length) return `${sign}${digits.padEnd(whole, '0')}.0`
  return `${sign}${digits.slice(0, whole)}.${digits.slice(whole)}`
}

/** Whether a JSON number text is an integer that importers preserve. */
export function isInteger(text: string): boolean {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) return false
  if (text.length < 16) return true
  if (text.length > 20) return false
  const value = BigInt(text)
  return value >= lowest && value <= highest
}
