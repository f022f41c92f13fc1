/**
 * Signals for a server, sent by a client, a shell or a service manager. In this process, SIGUSR1 would otherwise
 * open Node's debugger, and SIGUSR2 would end it.
 */
const always: readonly NodeJS.Signals[] = [
  'SIGTERM',
  'SIGHUP',
  ...(process.platform === 'win32' ? [] : (['SIGUSR1', 'SIGUSR2'] as const)),
]
/** Signals that a terminal sends to the whole group in its foreground. */
const fromTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/**
 * Catches signals meant for the server and passes on each of them, every time. Signals that a terminal sent to
 * the server as well are not sent twice.
 *
 * @param terminalSentIt whether a terminal sends its signals to the server directly
 * @returns `close()` removes the handlers
 */
export function forwardSignals(
  terminalSentIt: () => boolean,
  send: (signal: NodeJS.Signals) => void,
): { close(): void } {
  const listeners = new Map<NodeJS.Signals, () => void>()
  for (const signal of always) listeners.set(signal, () => send(signal))
  for (const signal of fromTerminal) {
    listeners.set(signal, () => {
      if (!terminalSentIt()) send(signal)
    })
  }
  for (const [signal, listener] of listeners) process.on(signal, listener)
  return {
    close() {
      for (const [signal, listener] of listeners) process.off(signal, listener)
    },
  }
}

/** Excludes signals that make servers reread their configuration. */
export function isEnding(signal: NodeJS.Signals): boolean {
  return signal === 'SIGTERM' || signal === 'SIGINT' || signal === 'SIGQUIT'
}

const endings: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Resolves at the first signal that ends a program; later ones are ignored while the tape is closed. */
export function untilSignal(): {
  readonly signal: Promise<NodeJS.Signals>
  /** Acts as if that signal had arrived. */
  end(signal: NodeJS.Signals): void
  cancel(): void
} {
  let resolve: (signal: NodeJS.Signals) => void = () => undefined
  const signal = new Promise<NodeJS.Signals>((settle) => (resolve = settle))
  const listener = (name: NodeJS.Signals): void => resolve(name)
  for (const name of endings) process.on(name, listener)
  return {
    signal,
    end: (name) => resolve(name),
    cancel() {
      for (const name of endings) process.off(name, listener)
    },
  }
}
