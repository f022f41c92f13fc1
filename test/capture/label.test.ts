import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLabel } from '../../src/capture/index.js'
import { launchers } from '../../src/capture/launchers.js'
import { runs } from '../long.js'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(os.tmpdir(), 'wiretape-label-'))
  mkdirSync(join(cwd, 'project/dist'), { recursive: true })
  mkdirSync(join(cwd, 'weather/src'), { recursive: true })
  writeFileSync(join(cwd, 'project/package.json'), '{"name":"@acme/files-server"}')
  writeFileSync(join(cwd, 'project/dist/package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(cwd, { recursive: true }))

describe('the label of a command is', () => {
  it.each([
    ['npx -y @modelcontextprotocol/server-filesystem /data', 'server-filesystem'],
    ['npx @modelcontextprotocol/server-filesystem@2025.1.14 /data', 'server-filesystem'],
    ['npx -y some-server@^1.2.0 --token abc', 'some-server'],
    ['npx --yes --package=@scope/tools -- tool-server x', 'tool-server'],
    ['npx -p @scope/tools tool-server', 'tool-server'],
    ['npx tsx project/src/main.ts', 'files-server'],
    ['npx -y tsx watch project/src/main.ts', 'files-server'],
    ['pnpm dlx -w pkg secret', 'pnpm'],
    ['npm exec -- @scope/server', 'server'],
    ['npm x --yes pkg', 'pkg'],
    ['npm run start', 'npm'],
    ['pnpm dlx @scope/server', 'server'],
    ['yarn dlx server-x', 'server-x'],
    ['bunx server-x', 'server-x'],
    ['bun x server-x', 'server-x'],
    ['bun run project/dist/index.ts', 'files-server'],
    ['bun project/dist/index.ts', 'files-server'],
    ['node project/dist/index.js stdio', 'files-server'],
    ['node --enable-source-maps --import ./hook.mjs project/dist/index.js', 'files-server'],
    ['/usr/local/bin/node weather/src/index.js', 'weather'],
    ['node weather/forecast.js', 'forecast'],
    ['node /x/node_modules/@scope/server-a/dist/index.js', 'server-a'],
    ['node /x/node_modules/a/node_modules/server-b/index.js', 'server-b'],
    ['node /x/node_modules/.bin/mcp-server-c', 'mcp-server-c'],
    ['node -e secret()', 'node'],
    ['deno run -A npm:@scope/server', 'server'],
    ['deno run --allow-net=example.com weather/src/main.ts', 'weather'],
    ['deno run https://user:pw@example.com/server.ts?token=abc', 'deno'],
    ['python -m mcp_server_git --repository /x', 'mcp_server_git'],
    ['python3.12 -u -m pkg.server', 'pkg.server'],
    ['python3 project/dist/weather.py', 'weather'],
    ['python weather/src/main.py', 'weather'],
    ['python -c print()', 'python'],
    ['uvx mcp-server-fetch', 'mcp-server-fetch'],
    ['uvx mcp-server-fetch==2025.1.17', 'mcp-server-fetch'],
    ['uvx --from git+https://abc@example.com/x.git my-server', 'my-server'],
    ['uv run --with mcp weather/src/forecast.py', 'forecast'],
    ['uv --directory /x/weather run forecast.py', 'forecast'],
    ['uv tool run mcp-server-git', 'mcp-server-git'],
    ['pipx run mcp-server-git', 'mcp-server-git'],
    ['docker run -i --rm -e TOKEN=abc mcp/fetch', 'fetch'],
    ['docker run -i --rm -e TOKEN --env=A=b ghcr.io/org/github-mcp-server:v1 stdio', 'github-mcp-server'],
    ['docker run --mount type=bind,src=/a,dst=/b registry:5000/team/files@sha256:00ff', 'files'],
    ['docker --context remote container run image-a', 'image-a'],
    ['docker compose up', 'docker'],
    ['env A=B C=D npx -y server-x', 'server-x'],
    ['env -i -u PATH A=B ./my-server', 'my-server'],
    ['env A=B', 'env'],
    ['env -S npx', 'env'],
    ['cmd /c npx -y server-x', 'server-x'],
    ['C:\\Windows\\System32\\cmd.exe /C node project/dist/index.js', 'files-server'],
    ['C:\\nodejs\\npx.cmd -y server-x', 'server-x'],
    ['C:\\servers\\my-server.exe --token abc', 'my-server'],
    ['./bin/my-server --token abc', 'my-server'],
    ['sh -c secret-server', 'sh'],
    ['constructor', 'constructor'],
    ['npx', 'npx'],
    ['npx --', 'npx'],
    ['npx --unknown pkg secret', 'npx'],
    ['node --unknown project/dist/index.js', 'node'],
    ['docker run --unknown image secret', 'docker'],
    ['python -W', 'python'],
  ])('%s: %s', (command, label) => {
    expect(defaultLabel(command.split(' '), cwd)).toBe(label)
  })

  it('never empty', () => {
    expect(defaultLabel([''], cwd)).toBe('server')
    expect(defaultLabel(['/'], cwd)).toBe('server')
  })
})

describe('a secret in the command line never shows', () => {
  const secret = 's3cr3t0123456789'
  const known = Object.values(launchers).flat()
  const option = fc.oneof(
    fc.constantFrom(...known.flatMap(({ flags }) => flags)).map((flag) => [flag]),
    fc.constantFrom(...known.flatMap(({ valued }) => valued)).map((name) => [name, secret]),
    fc.constantFrom('--unknown', '-x', '-k', '--api-key').map((name) => [name]),
    fc.constantFrom('--unknown', '-x', '-k', '--api-key').map((name) => [name, secret]),
    fc.constantFrom('--unknown', '--api-key').map((name) => [`${name}=${secret}`]),
    fc.constant([`-k${secret}`]),
  )
  const options = fc.array(option, { maxLength: 4 }).map((list) => list.flat())
  const invocation = fc
    .constantFrom(...Object.entries(launchers))
    .chain(([program, [launcher]]) =>
      fc.tuple(fc.constant(program), fc.constantFrom(...(launcher!.verbs ?? [[]]))),
    )
  const rest = fc.array(fc.constantFrom(secret, '--token', '--', 'word', `--token=${secret}`), {
    maxLength: 4,
  })

  it('whatever options stand before the name, known or not, and whatever follows it', () => {
    fc.assert(
      fc.property(
        options,
        invocation,
        options,
        rest,
        fc.boolean(),
        (before, [program, verb], between, after, env) => {
          // An option of a launcher may stand alone in one and take a value in another: the secret is only
          // planted where that launcher does not read its own server's name, and takes no other word for a value.
          const launcher = launchers[program]![0]!
          const ours = (list: string[]): boolean =>
            list.every(
              (word, i) =>
                (word !== secret || !launcher.flags.includes(list[i - 1]!)) &&
                (!launcher.valued.includes(word) || list[i + 1] === secret),
            )
          fc.pre(ours(before) && ours(between))
          fc.pre(![...before, ...between].includes('-m'))
          const wrapper = env ? ['env', `TOKEN=${secret}`] : []
          const command = [...wrapper, program, ...before, ...verb, ...between, 'the-name', ...after]
          expect(defaultLabel(command, '/')).not.toContain(secret)
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it('in a program that is not known, at any place', () => {
    fc.assert(
      fc.property(rest, (args) => {
        expect(defaultLabel(['/opt/my-server', ...args], '/')).toBe('my-server')
      }),
    )
  })
})
