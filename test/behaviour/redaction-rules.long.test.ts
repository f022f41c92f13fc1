import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { plainEnv, wiretape } from './run-cli.js'
import { server } from './stage.js'
import { linesOfTape, linesOfType } from './tape-bytes.js'
import { message, secrets, useRedaction } from './redaction-stage.js'

const { stage, record, written } = useRedaction()

describe('a recording', () => {
  it('covers what the server writes to stderr, a private key over many lines too', async () => {
    const key = [
      '-----BEGIN RSA PRIVATE KEY-----',
      'c2VjcmV0IG9uZQ',
      'c2VjcmV0IHR3bw',
      '-----END RSA PRIVATE KEY-----',
    ]
    const stderr = `api_key=${secrets.bearer}\n${key.join('\n')}\nready\n`
    const run = await record([], server('exit-with.mjs', '0', '', stderr))
    expect(run.stderr).toBe(stderr)
    const texts = linesOfType(stage.tape(), 'stderr').map(({ text }) => text)
    expect(texts.at(-1)).toBe('ready')
    expect(texts.join('\n')).not.toMatch(/c2Vjcm|mF_9/)
  })

  it('redacts a secret at the point where a long line of stderr is cut', async () => {
    for (const words of [13_100, 13_105, 13_107, 13_200, 26_200]) {
      const line = `password=${secrets.bearer} then ${secrets.github} `
      const script = `process.stderr.write('word '.repeat(${words}) + ${JSON.stringify(line)} + 'x '.repeat(40000) + '\\n')`
      const run = await record([], [process.execPath, '-e', script])
      expect(run.stderr.length).toBe(words * 5 + line.length + 80_001)
    }
    const text = written()
    expect(text).not.toContain(secrets.bearer)
    expect(text).not.toContain(secrets.github)
  })

  it('keeps values that only look like secrets', async () => {
    const result = {
      tools: [
        { name: 'login', inputSchema: { type: 'object', properties: { password: { type: 'string' } } } },
      ],
      nextCursor: secrets.jwt,
    }
    const harmless = [
      JSON.stringify({ jsonrpc: '2.0', id: 1, result }),
      message({ _meta: { progressToken: 'progress-1' }, tokens: 12, maxTokens: 5, secret: null }),
      message({ text: 'Bearer realm="x", resource_metadata="https://host/.well-known", scope="files:read"' }),
    ]
    await record([], server('echo-lines.mjs'), `${harmless.join('\n')}\n`)
    const raws = readFileSync(stage.tape(), 'utf8')
    for (const line of harmless) expect(raws).toContain(line)
  })

  it('keeps secrets out of the error for a server that cannot be started', async () => {
    const run = await record([], [stage.path(secrets.github)])
    expect(run.code).toBe(127)
    expect(`${run.stderr}${written()}`).not.toContain(secrets.github)
  })
})

describe('rules of a user', () => {
  it('are patterns and a file, with the built-in ones or without', async () => {
    const rules = {
      extends: null,
      rules: [
        { name: 'customer', path: '$.params.customer' },
        { name: 'card', regex: '\\b\\d{4}-\\d{4}\\b' },
      ],
    }
    writeFileSync(stage.path('rules.json'), JSON.stringify(rules))
    const line = message({ customer: 42, text: 'card 1234-5678, ticket T-99', password: 'kept' })
    const options = ['--redact', 'T-\\d+', '--redact-file', 'rules.json', '--redact-report']
    const run = await record(options, server('echo-lines.mjs'), `${line}\n`)
    expect(run.stderr).toBe('wiretape: redacted 6 values: customer 2, card 2, --redact #1 2\n')
    const [first] = linesOfType(stage.tape(), undefined)
    const { raw } = first!
    expect(raw.params).toEqual({
      customer: '[REDACTED]',
      text: 'card [REDACTED], ticket [REDACTED]',
      password: 'kept',
    })
    const check = await wiretape(['inspect', '--check', stage.tape()], { env: plainEnv(stage.env) })
    expect(check.stdout).toContain('redacted 6 values: customer 2, card 2, --redact #1 2')
  })

  it('are the only rules with --no-redact-defaults', async () => {
    await record(['--no-redact-defaults'], server('echo-lines.mjs'), `${message({ password: 'kept' })}\n`)
    const [meta] = linesOfTape(stage.tape())
    expect(meta!.wiretape.redaction).toBe('none')
    expect(linesOfType(stage.tape(), undefined)[0]!.raw.params).toEqual({ password: 'kept' })
  })

  it.each([
    [['--redact', 'a(b'], /^wiretape: --redact #1 .*column \d+.*\n$/],
    [['--redact-file', 'nowhere.json'], /^wiretape: cannot read nowhere\.json: no such .*\n$/],
    [['--redact-file', 'broken.json'], /^wiretape: broken\.json.*line 2.*\n$/],
    [['--redact-file', 'bad-path.json'], /^wiretape: bad-path\.json.*rules\[0\].*column \d+.*\n$/],
  ])('that are invalid start no server: %j', async (options, line) => {
    writeFileSync(stage.path('broken.json'), '{"extends": null,\n "rules": [}')
    writeFileSync(
      stage.path('bad-path.json'),
      '{"extends": "default", "rules": [{"name":"x","path":"$.a["}]}',
    )
    const run = await record(options, ['sh', '-c', 'touch started'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(line)
    expect(existsSync(stage.path('started'))).toBe(false)
    expect(stage.tapes()).toEqual([])
  })
})
