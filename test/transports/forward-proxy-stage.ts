/** Two authorities, ours and that of the upstreams, and a forward proxy between them. */
import tls from 'node:tls'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import { startForwardProxy, type ForwardProxy, type ForwardProxyOptions } from '../../src/transports/index.js'

export const ours = await makeAuthority(new Date())
export const theirs = await makeAuthority(new Date())
/** Of upstreams, for `localhost`. */
export const leaf = await createLeafCertificates(theirs).of('localhost')

/** A forward proxy on a free port that looks at everything, and believes `theirs`. */
export function startOurProxy(options: Partial<ForwardProxyOptions>): Promise<ForwardProxy> {
  const leaves = createLeafCertificates(ours)
  return startForwardProxy({
    host: '127.0.0.1',
    port: 0,
    insecure: false,
    secureContext: tls.createSecureContext({ ca: theirs.certificate }),
    certificateFor: (name) => leaves.of(name),
    tunnelled: () => undefined,
    onEvent: () => undefined,
    onTunnel: () => undefined,
    ...options,
  })
}
