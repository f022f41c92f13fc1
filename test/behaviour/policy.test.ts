/** The policy binds every command that records. */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { wiretape } from './run-cli.js'
import { input, secret, usePolicy } from './policy-stage.js'

const { home, env, record, tapes } = usePolicy()

describe('a policy', () => {
  it('with `record: none` passes all traffic and records nothing', async () => {
    const { stdout, stderr, code } = await record('version: 1\nrecord: none')
    expect([stdout, stderr, code]).toEqual([input, '', 0])
    expect(tapes()).toEqual([])
  })

  it('that cannot be read fails closed, with one line', async () => {
    const { stdout, stderr, code } = await record(
      'version: 1\nrecord: [',
      '--session-file',
      join(home(), 's.json'),
    )
    expect([stdout, code]).toEqual([input, 0])
    expect(stderr).toMatch(/^wiretape: the policy .* line 2: .*nothing is recorded, all messages pass\n$/)
    expect(tapes()).toEqual([])
    expect(readdirSync(home())).not.toContain('s.json')
    const fleet = await wiretape(['status', '--fleet'], { env: env('version: 1\nrecord: [') })
    expect(fleet.stderr).toMatch(/^wiretape: the policy .* line 2: /)
  })

  it('names the servers that are recorded', async () => {
    await record('version: 1\nrecord: { servers: ["cat*"] }')
    expect(tapes()).toHaveLength(1)
    await record('version: 1\nrecord: { servers: ["dog*"] }')
    expect(tapes()).toHaveLength(1)
  })

  it('adds to redaction, whose built-in rules cannot be switched off', async () => {
    const rules = join(home(), 'rules.json')
    writeFileSync(rules, '{"extends":null,"rules":[]}')
    const policy = `version: 1\nredaction: { patterns: ['ACME-\\d+'] }\nconsent: This is recorded.`
    await record(policy, '--no-redact-defaults')
    await record(policy, '--redact-file', rules)
    expect(tapes()).toHaveLength(2)
    for (const tape of tapes()) {
      expect(tape).not.toContain(secret)
      expect(tape).not.toContain('ACME-123')
      expect(tape).toContain('"consent":"This is recorded."')
    }
  })

  it('is explained by status', async () => {
    const policy = `version: 1\nrecord: none\nquota: 2GB\n`
    const path = join(home(), 'policy.yaml')
    const { stdout } = await wiretape(['status', '--policy'], { env: env(policy) })
    expect(stdout).toContain(`${path}:2`)
    expect(stdout).toMatch(/quota +2\.0 GB +.*policy\.yaml:3/)
    const faulty = await wiretape(['status', '--policy'], {
      env: env('version: 1\nquota: lots\nrecrod: none\n'),
    })
    expect(faulty.stdout).toMatch(
      /policy.yaml:2: quota .*\n.*policy.yaml:3: .*did you mean record\?\nNothing is recorded/,
    )
    for (const text of [policy, 'version: 1\nrecord: [', full()]) {
      const json = await wiretape(['status', '--policy', '--json'], { env: env(text) })
      expectSchema('policy', JSON.parse(json.stdout))
    }
    expect(statSync(path).isFile()).toBe(true)
  })
})

function full(): string {
  return `version: 1
record: { servers: [a], clients: [b] }
redaction: { patterns: [x] }
retention: { age: 1d, size: 1GB }
quota: 1GB
ship: { to: s3://x, seal: { size: 1MB, after: 1h }, compression: zstd, nats: { creds: /x } }
consent: yes it is
`
}
