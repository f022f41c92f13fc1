import { describe, expect, it } from 'vitest'
import { modeOf, refuseForeign, type RecordMode } from '../../src/cli/record-modes.js'
import type { RecordOptions } from '../../src/cli/record-flag.js'

const start: Record<RecordMode, { command: string[]; options: RecordOptions }> = {
  stdio: { command: ['server'], options: {} },
  listen: { command: ['server'], options: { listen: '0' } },
  url: { command: [], options: { url: 'http://x/' } },
  bridge: { command: [], options: { url: 'http://x/', bridge: true } },
  forward: { command: ['client'], options: { forward: true } },
}
const modes = Object.keys(start) as RecordMode[]

/** Options, and the modes that they mean something in. */
const options: readonly [option: string, given: RecordOptions, modes: readonly RecordMode[]][] = [
  ['--shared', { shared: true }, ['listen']],
  ['--header', { header: ['A: ${NOT_SET}'] }, ['bridge']],
  ['--only', { only: ['x'] }, ['forward']],
  ['--skip', { skip: ['x'] }, ['forward']],
  ['--ca-dir', { caDir: 'x' }, ['forward']],
  ['--allow-remote', { allowRemote: true }, ['listen', 'url']],
  ['--insecure', { insecure: true }, ['url', 'bridge', 'forward']],
  ['--no-oauth-rewrite', { oauthRewrite: false }, ['url']],
  ['--session-file', { sessionFile: 's.json' }, ['stdio', 'listen', 'url', 'bridge']],
  ['--label', { label: 'x' }, modes],
  ['--max-files', { maxFiles: 3, maxBytes: 1000 }, modes],
]

describe('the mode of record', () => {
  it.each(modes)('follows from its options: %s', (mode) => {
    expect(modeOf(start[mode].command, { oauthRewrite: true, ...start[mode].options })).toBe(mode)
  })

  it.each(options)('takes %s only where it means something', (option, given, meant) => {
    for (const mode of modes) {
      const { command, options } = start[mode]
      const of = (): RecordMode => modeOf(command, { ...options, ...given })
      if (meant.includes(mode)) expect(of()).toBe(mode)
      else {
        expect(of).toThrow(option)
        expect(() => refuseForeign(mode, given)).toThrow(option)
      }
    }
  })

  it.each<[string, string[], RecordOptions]>([
    ['--forward and --bridge', [], { forward: true, bridge: true, url: 'http://x/' }],
    ['--forward and --url', ['client'], { forward: true, url: 'http://x/' }],
    ['--bridge needs the --url', [], { bridge: true }],
    ['--bridge needs the --url', ['server'], { bridge: true }],
    ['--bridge and --listen cannot be combined', [], { bridge: true, url: 'http://x/', listen: '0' }],
    ['--bridge and a command', ['server'], { bridge: true, url: 'http://x/' }],
    ['--url and a command', ['server'], { url: 'http://x/' }],
    ['--url and a command', ['server'], { url: 'http://x/', listen: '0' }],
    ['--max-files needs --max-bytes', ['server'], { maxFiles: 3 }],
  ])('is said to be a contradiction: %s', (words, command, given) => {
    expect(() => modeOf(command, given)).toThrow(words)
  })
})
