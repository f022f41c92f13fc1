import http from 'node:http'
import type { Socket } from 'node:net'
import { valuesOf } from './hop-headers.js'

/** Members that Node's types leave out. Programs that replace `http.Agent` have used them since Node 0.11. */
type Pool = { addRequest(request: http.ClientRequest, options: http.ClientRequestArgs): void }
type Request = http.ClientRequest & { readonly res?: http.IncomingMessage | null }
type Used = Socket & { _httpMessage?: unknown }

const pool = http.Agent.prototype as unknown as Pool
const ignore = (): void => undefined

/**
 * An agent with one connection to one server without TLS. Node's agent copies and compares the options of each
 * request, a tenth of the work of an exchange. Here a connection waits for its next request as it is. All else is left
 * to Node's agent, in whose list the connection stays.
 */
export class OneConnectionAgent extends http.Agent implements Pool {
  #waiting: Socket | undefined
  #request: Request | undefined
  #heard: Socket | undefined

  constructor(options: http.AgentOptions) {
    super({ ...options, keepAlive: true, maxSockets: 1 })
    const [usual] = this.listeners('free')
    this.removeAllListeners('free')
    this.on('free', (socket: Socket, options: unknown) => {
      if (!this.#keep(socket)) usual!.call(this, socket, options)
    })
  }

  /** Whether the connection is open and has no request. Node's agent counts it as used. */
  isWaiting(): boolean {
    return this.#waiting?.writable === true
  }

  addRequest(request: http.ClientRequest, options: http.ClientRequestArgs): void {
    const socket = this.#waiting
    this.#waiting = undefined
    this.#request = request
    if (!socket?.writable) return pool.addRequest.call(this, request, options)
    request.reusedSocket = true
    socket.ref()
    request.onSocket(socket)
  }

  /** False when Node's agent has to decide: other requests wait, or the connection will be closed. */
  #keep(socket: Used): boolean {
    for (const _ in this.requests) return false
    const request = this.#request
    const came = request?.res
    if (!came || !request.shouldKeepAlive || !socket.writable || request.socket !== socket) return false
    if (valuesOf(came.rawHeaders, 'keep-alive').some((value) => /^timeout=[01]\b/.test(value))) return false
    if (this.#heard !== socket) {
      this.#heard = socket
      socket.setKeepAlive(true, 1_000)
      // The connection is closed by its error anyway.
      socket.on('error', ignore)
    }
    socket.unref()
    socket._httpMessage = null
    this.#waiting = socket
    this.#request = undefined
    return true
  }
}
