import { readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** Inputs for the paths of configuration files. */
export interface Places {
  readonly home: string
  readonly cwd: string
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
}

/** `$XDG_CONFIG_HOME`, else `~/.config`; relative paths are ignored, as the specification requires. */
export function configHome({ home, env }: Places): string {
  const named = env['XDG_CONFIG_HOME'] ?? ''
  return isAbsolute(named) ? named : join(home, '.config')
}

/** Windows: `%APPDATA%`. */
export function roaming({ home, env }: Places): string {
  return env['APPDATA'] || join(home, 'AppData', 'Roaming')
}

/** Windows: `%LOCALAPPDATA%`. */
export function localAppData({ home, env }: Places): string {
  return env['LOCALAPPDATA'] || join(home, 'AppData', 'Local')
}

/** Settings folder of a desktop program called `name`. */
export function settingsOf(name: string, places: Places): string {
  if (places.platform === 'darwin') return join(places.home, 'Library', 'Application Support', name)
  return join(places.platform === 'win32' ? roaming(places) : configHome(places), name)
}

/** A folder that an environment variable can override. */
export function namedFolder(variable: string, otherwise: string, { env }: Places): string {
  return env[variable] || otherwise
}

/** Direct subfolders with matching names; none if the folder is missing. */
export function foldersIn(folder: string, passes: (name: string) => boolean = () => true): string[] {
  return entriesIn(folder, true)
    .filter(passes)
    .sort()
    .map((name) => join(folder, name))
}

/** Files directly in a folder with one of these endings. */
export function filesIn(folder: string, endings: readonly string[]): string[] {
  const names = entriesIn(folder, false)
  return names
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .sort()
    .map((name) => join(folder, name))
}

function entriesIn(folder: string, isFolder: boolean): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() === isFolder).map(({ name }) => name)
  } catch {
    return []
  }
}
