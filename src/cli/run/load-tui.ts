let loaded: Promise<typeof import('../../tui/index.js')> | undefined

/**
 * Loads the screen. Ink draws nothing where `CI` is set, and looks at that when it is loaded; but who opens a screen has a
 * terminal. To be called before anything is started that gets our environment.
 */
export function loadTui(): Promise<typeof import('../../tui/index.js')> {
  return (loaded ??= load())
}

/** What Ink looks at. */
const signsOfCi = ['CI', 'CONTINUOUS_INTEGRATION']

async function load(): Promise<typeof import('../../tui/index.js')> {
  const before = signsOfCi.map((name) => [name, process.env[name]] as const)
  for (const name of signsOfCi) process.env[name] = 'false'
  try {
    return await import('../../tui/index.js')
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
