/** A tape of ours with these lines between its first and last. */
export function tapeOf(lines: readonly string[], label = 'made'): string {
  const meta = {
    v: 1,
    type: 'meta',
    startedAt: '2026-08-01T10:00:00.000Z',
    label,
    command: ['node', 'server.js'],
    wiretape: {
      version: '0.1.0',
      session: `00000000-0000-4000-8000-${label.padEnd(12, '0').slice(0, 12)}`,
      transport: 'stdio',
      url: null,
      segment: 0,
      redaction: 'defaults',
      metadata: {},
    },
  }
  const end = {
    t: '2026-08-01T10:00:09.000Z',
    type: 'end',
    exitCode: 0,
    durationMs: 9000,
    wiretape: { messages: lines.length },
  }
  return `${[JSON.stringify(meta), ...lines, JSON.stringify(end)].join('\n')}\n`
}

let made = 0

/** A message line: `raw` as text, `more` members behind it. */
export function messageLine(
  dir: 'in' | 'out',
  raw: string,
  more: Readonly<Record<string, unknown>> = {},
): string {
  made += 1
  const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
  const t = new Date(Date.parse('2026-08-01T10:00:00Z') + made).toISOString()
  const rest = JSON.stringify({ id, seq: made, us: made * 1000, ...more }).slice(1)
  return `{"t":"${t}","dir":"${dir}","raw":${raw},${rest}`
}
