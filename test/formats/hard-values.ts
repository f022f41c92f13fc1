/** JSON texts that do not survive every reader. */
export const hardValues = [
  '12345678901234567890',
  '1.0',
  '-0',
  '1e400',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1},"constructor":0}',
  '"\\ud800 \\udfff \\ud83d\\ude00 😀 \\u0000 \\/ \u2028 é"',
  '[ 1 ,\t2 ]',
  '{}',
  '[]',
  'null',
  'true',
]
