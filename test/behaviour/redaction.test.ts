import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { server } from './stage.js'
import { linesOfType, type Line } from './tape-bytes.js'
import { message, secrets, useRedaction } from './redaction-stage.js'

const { stage, record, written } = useRedaction()

describe('a recording', () => {
  const lines = [
    message({ name: 'login', arguments: { user: 'me', Password: secrets.password, n: 1 } }),
    `{"jsonrpc":"2.0","id":2,"method":"x","params":{"\\u0070assword":"${secrets.password}","password":1}}`,
    `{"jsonrpc":"2.0","id":3,"method":"x","params":{"token":"${secrets.password}","token":"","deep":[[{"api-key":["${secrets.password}"]}]]}}`,
    message({
      text: `keys: ${secrets.aws} ${secrets.github}, ${secrets.slack};${secrets.stripe} "${secrets.openai}"`,
    }),
    `[${message({ text: `Authorization: Bearer ${secrets.bearer}` })},${message({ url: `https://me:${secrets.url}@host/x` })}]`,
    message({ text: `{"password":"${secrets.password}"}`, jwt: secrets.jwt }),
    `not json at all password=${secrets.password.replaceAll(' ', '-')}`,
    `{"broken": "json", "secret": "${secrets.password}"`,
    secrets.jwt,
  ]
  const input = `${lines.join('\n')}\n`

  it('contains no secret, in any file, while every byte is passed on', async () => {
    const options = [
      '--session-file',
      'session.json',
      '--label',
      `for ${secrets.github}`,
      '--note',
      `the key is ${secrets.aws}`,
      '--meta',
      `token=${secrets.password}`,
    ]
    const [node, program] = server('echo-lines.mjs')
    const command = [
      node!,
      program!,
      '--token',
      secrets.password,
      `https://me:${secrets.url}@host/?api_key=${secrets.bearer}`,
    ]
    const run = await record(options, command, input)
    expect(run).toEqual({ code: 0, stdout: input, stderr: '' })
    const text = written()
    for (const [kind, secret] of Object.entries(secrets)) {
      const found = [secret, secret.replaceAll(' ', '-')].filter((form) => text.includes(form))
      expect({ kind, found }).toEqual({ kind, found: [] })
    }
    expect(existsSync(stage.path('session.json'))).toBe(true)
  })

  it('keeps all other text, character by character, and tags equal secrets alike', async () => {
    const odd = `{"jsonrpc":"2.0", "id":1,"method":"x","params":{"a":1.50e3,"a":"\\u00e9","password" : "${secrets.password}","b":{"pwd":"${secrets.password}"},"n":12345678901234567890}}`
    await record([], server('echo-lines.mjs'), `${odd}\n`)
    const [first, second] = linesOfType(stage.tape(), undefined)
    expect(readFileSync(stage.tape(), 'utf8')).toContain(
      `"raw":${odd.replaceAll(secrets.password, '[REDACTED]')},`,
    )
    expect(first!.red.map(({ at }: Line) => at)).toEqual(['/params/password', '/params/b/pwd'])
    const tags = [...first!.red, ...second!.red].map(({ tag }: Line) => tag)
    expect(new Set(tags).size).toBe(1)
    expect(tags[0]).toMatch(/^[0-9a-f]{16}$/)
  })
})
