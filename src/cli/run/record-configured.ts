import { readConfiguredServer } from '../../clients/index.js'
import { WiretapeError } from '../../model/index.js'
import type { Io } from '../io.js'
import type { RecordOptions } from '../record-flag.js'
import { placesOf } from './install.js'
import { runRecord } from './record.js'

/** Records a server from a client's configuration, a bundle or an entry of the registry. */
export async function runRecordConfigured(
  config: string,
  command: readonly string[],
  options: RecordOptions,
  io: Io,
): Promise<number> {
  const { config: _config, server: name, ...others } = options
  if (command.length > 0 || others.url !== undefined || others.forward) {
    throw new WiretapeError('usage', '--config already names the server', {
      hint: 'leave out the command, --url and --forward',
    })
  }
  const server = await readConfiguredServer(config, name, placesOf(io))
  try {
    Object.assign(process.env, server.env)
    if (server.cwd !== undefined) process.chdir(server.cwd)
    const label = others.label ?? server.name
    const { target } = server
    if (target.kind === 'stdio') return await runRecord(target.command, { ...others, label }, io)
    // Header values are passed in the environment, which marks them as secrets.
    const header = target.headers.map(([key, value], i) => {
      process.env[`WIRETAPE_HEADER_${i}`] = value
      return `${key}: \${WIRETAPE_HEADER_${i}}`
    })
    const isBridge = others.listen === undefined
    return await runRecord(
      [],
      { ...others, label, url: target.url, ...(isBridge && { bridge: true, header }) },
      io,
    )
  } finally {
    await server.close?.()
  }
}
