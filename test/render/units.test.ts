import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countOf, formatBytes, formatCount, formatDuration, formatOffset } from '../../src/render/index.js'

describe('units', () => {
  it.each([
    [0, '0 B'],
    [812, '812 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [9949, '9.9 kB'],
    [9960, '10 kB'],
    [999_499, '999 kB'],
    [999_500, '1.0 MB'],
    [10 * 1024 * 1024, '10 MB'],
    [2.5e15, '2500 TB'],
  ])('shows %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })

  it.each([
    [0, '0.0 ms'],
    [400, '0.4 ms'],
    [9_960, '10 ms'],
    [999_400, '999 ms'],
    [999_600, '1.0 s'],
    [99_400_000, '99 s'],
    [99_600_000, '1m 40s'],
    [3_599_900_000, '1h 0m'],
    [7_199_900_000, '2h 0m'],
    [360_000_000_000, '100h 0m'],
  ])('shows %d microseconds as %s', (us, text) => {
    expect(formatDuration(us)).toBe(text)
  })

  it('shows offsets in seconds, counts in groups of three', () => {
    expect(formatOffset(12_345_678)).toBe('12.346')
    expect(formatCount(1_234_567)).toBe('1,234,567')
    expect(formatCount(100)).toBe('100')
    expect(countOf(1, 'request')).toBe('1 request')
    expect(countOf(2_000, 'request')).toBe('2,000 requests')
  })

  it('fits the columns of a list', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1e12 }), (bytes) => formatBytes(bytes).length <= 7))
    fc.assert(fc.property(fc.integer({ min: 0, max: 3.5e11 }), (us) => formatDuration(us).length <= 7))
  })
})
