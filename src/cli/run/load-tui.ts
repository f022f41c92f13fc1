let loaded: Promise<typeof import('../../tui/index.js')> | undefined

/** Loads the screen. To be called before anything is started that gets our environment. */
export function loadTui(): Promise<typeof import('../../tui/index.js')> {
  return (loaded ??= load())
}

/**
 * What Ink looks at when it is loaded: it draws nothing where there is a `CI`, and marks nothing where it sees no sign of
 * colours. But who opens a screen has a terminal, and whether there are colours is said by whoever draws.
 */
const seenByInk: Readonly<Record<string, string | undefined>> = {
  CI: undefined,
  CONTINUOUS_INTEGRATION: undefined,
  FORCE_COLOR: '1',
  // Node warns where both are set.
  NO_COLOR: undefined,
}

async function load(): Promise<typeof import('../../tui/index.js')> {
  const before = Object.keys(seenByInk).map((name) => [name, process.env[name]] as const)
  Object.entries(seenByInk).forEach(setVariable)
  try {
    return await import('../../tui/index.js')
  } finally {
    before.forEach(setVariable)
  }
}

function setVariable([name, value]: readonly [string, string | undefined]): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
