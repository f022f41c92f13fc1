// @ts-check
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { natsOptions } from '../../fixtures/nats-options.mjs'

/** Room for recordings until the disk is full. */
const roomBytes = 1_200_000
const deadlineMs = 60_000

/**
 * A recorder on a small disk that another program fills, and `wiretape ship --follow` to JetStream beside it: traffic goes on, the tape
 * and stderr say what is missing, the store gets what was sealed, once, and recording resumes when there is room.
 *
 * @param {{ folder: string, cli: string, holds: (what: string, is: boolean) => void,
 *   openStore: (address: string, env: object) => Promise<any> }} stage
 */
export async function fullDisk({ folder, cli, holds, openStore }) {
  const data = join(folder, 'data')
  const ports = join(folder, 'ports')
  for (const path of [data, ports]) mkdirSync(path, { recursive: true })
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', data]).status !== 0)
    return console.log('left out: the full disk, which mounts a small one')
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = []
  try {
    const server = spawn('nats-server', natsOptions(ports, join(folder, 'js')), { stdio: 'ignore' })
    children.push(server)
    const portsFile = join(ports, `nats-server_${server.pid}.ports`)
    await until(
      'nats-server listens',
      () => existsSync(portsFile) && readFileSync(portsFile, 'utf8').endsWith('}'),
    )
    const address = JSON.parse(readFileSync(portsFile, 'utf8')).nats[0]
    const policy = join(folder, 'policy.yaml')
    writeFileSync(policy, `version: 1\nship: { to: '${address}', seal: { size: 200kB } }\n`)
    const env = { ...process.env, XDG_DATA_HOME: data, WIRETAPE_POLICY: policy }
    const filler = join(data, 'filler')
    const { bavail, bsize } = statfsSync(data)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - roomBytes))

    const recordings = join(data, 'wiretape/recordings')
    const recorder = start(['record', '--', 'cat'], env)
    const shipper = start(['ship', '--follow', '--every', '100ms'], env)
    let sent = ''
    /** Messages that pack badly. @param {string} name @param {number} count */
    const send = async (name, count) => {
      const pad = () => randomBytes(300).toString('base64')
      const messages = Array.from({ length: count }, (_, i) => ({
        jsonrpc: '2.0',
        method: `${name}${i}`,
        params: { pad: pad() },
      }))
      const text = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
      sent += text
      recorder.child.stdin?.write(text)
      await until('all messages pass', () => recorder.stdout().length === sent.length)
    }
    await send('first', 4_000)
    await until(
      'stderr says so at once',
      () =>
        recorder.stderr() === 'wiretape: disk full: recording stops until there is room, all messages pass\n',
    )
    const sealed = hashes().slice(0, -1)
    const bus = await openStore(address, process.env)
    const stored = async () => {
      const keys = []
      for await (const { key } of bus.list('segments/')) if (key.endsWith('.gz')) keys.push(key)
      return keys
    }
    await until('what is sealed is shipped', async () => (await stored()).length >= sealed.length)
    await send('full', 500)
    rmSync(filler)
    let round = 0
    await until('recording resumes', async () => {
      await send(`again${(round += 1)}-`, 5)
      return tapes().at(-1)?.includes(`"method":"again${round}-4"`) ?? false
    })
    recorder.child.stdin?.end()
    await recorder.ended
    await until('the rest is shipped', async () => (await stored()).length === tapes().length)
    shipper.child.kill('SIGTERM')
    await shipper.ended

    holds('full disk: traffic goes on, byte for byte', recorder.stdout() === sent)
    holds('full disk: the recorder ends with 0', recorder.child.exitCode === 0)
    holds('full disk: the shipper has no trouble', shipper.child.exitCode === 0 && shipper.stderr() === '')
    /** @type {Map<string, string>} */
    const kept = new Map()
    for (const key of await stored()) {
      const bytes = gunzipSync(await all(bus.get(key)))
      const hash = createHash('sha256').update(bytes).digest('hex')
      holds('full disk: a segment has its bytes', key.includes(hash))
      kept.set(hash, bytes.toString())
    }
    holds(
      'full disk: every segment is shipped, once',
      hashes().toSorted().join() === [...kept.keys()].toSorted().join(),
    )
    const { state } = await bus.manager.streams.info('WIRETAPE')
    holds(
      'full disk: every segment is announced once',
      state.messages === kept.size && kept.size > sealed.length,
    )
    await bus.close()
    const lines = [...kept.values()]
      .flatMap((text) => text.trimEnd().split('\n'))
      .map((text) => JSON.parse(text))
    const messages = lines.filter(({ raw }) => raw !== undefined)
    const lost = lines.reduce((sum, { type, lost: one = 0 }) => sum + (type === 'gap' ? one : 0), 0)
    const total = 2 * (sent.split('\n').length - 1)
    holds('full disk: gaps say what is missing', lost > 0 && messages.length + lost === total)
    const told = /([\d,]+) messages passed unrecorded: disk full/.exec(recorder.stderr())?.[1]
    holds('full disk: and so does stderr at the end', Number(told?.replaceAll(',', '')) === lost)
    holds(
      'full disk: no message is there twice',
      new Set(messages.map(({ dir, raw }) => dir + raw.method)).size === messages.length,
    )
    console.log(`full disk: ${kept.size} segments, ${lost} of ${total} messages unrecorded`)

    function tapes() {
      return readdirSync(recordings)
        .filter((name) => name.endsWith('.jsonl'))
        .toSorted((a, b) => segmentOf(a) - segmentOf(b))
        .map((name) => readFileSync(join(recordings, name), 'utf8'))
    }
    function hashes() {
      return tapes().map((text) => createHash('sha256').update(text).digest('hex'))
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    spawnSync('umount', ['-l', data])
  }

  /** @param {string[]} args @param {NodeJS.ProcessEnv} env */
  function start(args, env) {
    const child = spawn(process.execPath, [cli, ...args], { env, stdio: 'pipe' })
    children.push(child)
    const texts = { stdout: '', stderr: '' }
    for (const name of /** @type {const} */ (['stdout', 'stderr']))
      child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text))
    const ended = new Promise((done) => child.once('close', done))
    return { child, ended, stdout: () => texts.stdout, stderr: () => texts.stderr }
  }
}

/** The number of a file of a rotated recording. @param {string} name */
function segmentOf(name) {
  return Number(/\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)
}

/** @param {string} what @param {() => boolean | Promise<boolean>} is */
async function until(what, is) {
  const deadline = Date.now() + deadlineMs
  while (!(await is())) {
    if (Date.now() > deadline) throw new Error(`full disk: ${what}: not within ${deadlineMs / 1_000} s`)
    await setTimeout(50)
  }
}

/** @param {AsyncIterable<Uint8Array>} chunks */
async function all(chunks) {
  const pieces = []
  for await (const chunk of chunks) pieces.push(chunk)
  return Buffer.concat(pieces)
}
