import os from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * The user's data folder by the system's convention: `$XDG_DATA_HOME/wiretape`,
 * `~/.local/share/wiretape`, `~/Library/Application Support/wiretape`, `%LOCALAPPDATA%\wiretape\Data`.
 */
export function dataFolder(
  env: Readonly<Record<string, string | undefined>>,
  home: string = os.homedir(),
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'wiretape')
  if (platform === 'win32') {
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'wiretape', 'Data')
  }
  const named = env['XDG_DATA_HOME'] ?? ''
  // The specification requires relative paths to be ignored.
  return join(isAbsolute(named) ? named : join(home, '.local', 'share'), 'wiretape')
}

/** Recordings have their own folder beside the registry. */
export function recordingsIn(folder: string): string {
  return join(folder, 'recordings')
}
