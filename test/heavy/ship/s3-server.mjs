// @ts-check
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const packages = resolve(import.meta.dirname, '../../../build/ship-packages')

/**
 * An S3 server (npm `s3rver`) with one bucket and one access key. It does not check signatures of version 4;
 * test/ship/s3.test.ts does. It is no dependency: the first run downloads it into the build folder.
 *
 * @param {{ port: number, directory: string, bucket: string, keyId: string, secret: string }} options
 * @returns {Promise<{ close(): Promise<void>, httpServer: import('node:http').Server }>}
 */
export async function startS3({ port, directory, bucket, keyId, secret }) {
  if (!existsSync(join(packages, 'node_modules/s3rver'))) {
    mkdirSync(packages, { recursive: true })
    writeFileSync(join(packages, 'package.json'), '{"private":true}')
    const args = ['install', '--silent', '--no-audit', '--no-fund', '--prefix', packages, 's3rver@3.7.1']
    if (spawnSync('npm', args, { stdio: 'inherit' }).status !== 0)
      throw new Error('s3rver cannot be installed')
  }
  const load = createRequire(join(packages, 'x.js'))
  load('s3rver/lib/models/account').DUMMY_ACCOUNT.createKeyPair(keyId, secret)
  const S3rver = load('s3rver')
  const server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
    allowMismatchedSignatures: false,
  })
  await server.run()
  return server
}
