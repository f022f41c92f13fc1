/** The services that pages use: a store (S3), a bus (NATS), a receiver of telemetry. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readIfThere, server, until, type Stage } from '../behaviour/stage.js'
import { freePort } from '../clients/free-port.mjs'
import { startS3 } from '../heavy/ship/s3-server.mjs'
import { natsOptions } from '../fixtures/nats-options.mjs'

export interface Services {
  readonly env: NodeJS.ProcessEnv
  /** Addresses in the pages, and their replacements here. */
  readonly addresses: ReadonlyMap<string, string>
  /** Start of the hash of a segment in the store. */
  segment(): string | undefined
  close(): Promise<void>
}

/** Starts the services that `commands` name. */
export async function startServices(commands: string, stage: Stage): Promise<Services> {
  const env: NodeJS.ProcessEnv = {}
  const addresses = new Map<string, string>()
  const closes: (() => unknown)[] = []
  const bucket = /s3:\/\/([\w-]+)/.exec(commands)?.[1]
  if (bucket !== undefined) {
    const [keyId, secret, port] = ['WIRETAPE', 'a secret of this run', await freePort()]
    const store = await startS3({ port, directory: stage.path('s3'), bucket, keyId, secret })
    closes.push(() => store.close())
    Object.assign(env, {
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    })
  }
  const bus = /nats:\/\/[\w.]+/.exec(commands)?.[0]
  if (bus !== undefined) {
    const nats = spawn('nats-server', natsOptions(stage.folder, stage.path('nats')), { stdio: 'ignore' })
    closes.push(() => nats.kill('SIGKILL'))
    const file = join(stage.folder, `nats-server_${nats.pid}.ports`)
    addresses.set(bus, await until('the bus listens', () => /nats:\/\/[\d.:]+/.exec(readIfThere(file))?.[0]))
  }
  if (/localhost:\d+/.test(commands)) {
    const receiver = createServer((request, response) => {
      request
        .resume()
        .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    })
    await new Promise<void>((done) => void receiver.listen(0, 'localhost', done))
    closes.push(() => closeServer(receiver))
    for (const [name] of commands.matchAll(/localhost:\d+/g))
      addresses.set(name, `localhost:${(receiver.address() as AddressInfo).port}`)
  }
  const protectedUrl = 'https://mcp.example.com/mcp'
  if (commands.includes(protectedUrl)) {
    const url = `http://127.0.0.1:${await freePort()}/mcp`
    const served = stage.start(server('sdk-oauth-http.mjs', url))
    await until('the protected server listens', () => String(served.stdout()).includes(url))
    addresses.set(protectedUrl, url)
    env['UPSTREAM'] = url
  }
  return {
    env,
    addresses,
    segment: () =>
      readdirSync(stage.path('s3'), { recursive: true, encoding: 'utf8' })
        .map((name) => /segments\/..\/([0-9a-f]{12})[0-9a-f]*\.jsonl/.exec(name)?.[1])
        .find((hash) => hash !== undefined),
    async close() {
      for (const close of closes.toReversed()) await close()
    },
  }
}

function closeServer(server: Server): Promise<unknown> {
  server.closeAllConnections()
  return new Promise((done) => void server.close(done))
}
