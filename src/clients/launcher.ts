import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launcherName } from './wrapping.js'

export interface LauncherOptions {
  readonly dataFolder: string
  readonly platform: NodeJS.Platform
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of wiretape's program file. */
  readonly program: string
}

export function launcherPath({
  dataFolder,
  platform,
}: Pick<LauncherOptions, 'dataFolder' | 'platform'>): string {
  return join(dataFolder, 'bin', platform === 'win32' ? `${launcherName}.cmd` : launcherName)
}

/** Writes the launcher that entries name, or updates it. Returns its path. */
export async function writeLauncher(options: LauncherOptions): Promise<string> {
  const path = launcherPath(options)
  const text = options.platform === 'win32' ? batch(options) : shell(options)
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return path
  await mkdir(join(options.dataFolder, 'bin'), { recursive: true, mode: 0o700 })
  const copy = `${path}.${process.pid}.tmp`
  await writeFile(copy, text, { mode: 0o700 })
  await chmod(copy, 0o700)
  await rename(copy, path)
  return path
}

/** Whether the program file is in a temporary cache of npx, pnpm dlx, yarn dlx or bunx. */
export function isPassing(program: string): boolean {
  return /[/\\](?:_npx|dlx|dlx-[^/\\]*|bunx-[^/\\]*)[/\\]/.test(program)
}

function shell({ node, program }: LauncherOptions): string {
  const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
  return `#!/bin/sh
# Written by "wiretape install"; MCP clients start their servers through it.
# Without Node or wiretape it starts the server all the same, unrecorded.
node=${quote(node)}
program=${quote(program)}
export WIRETAPE_LAUNCHED=1
if [ -f "$program" ]; then
  if [ -x "$node" ]; then exec "$node" "$program" "$@"; fi
  other=$(command -v node) &&
    "$other" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' &&
    exec "$other" "$program" "$@"
  why="$node is gone"
else
  why="$program is gone"
fi
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then
    shift
    unset WIRETAPE_LAUNCHED
    echo "wiretape: $why: this server runs unrecorded (run \\"wiretape install\\" again, or \\"wiretape uninstall\\")" >&2
    exec "$@"
  fi
  shift
done
echo "wiretape: $why: a remote server cannot be reached without it (install wiretape again, or \\"wiretape uninstall\\")" >&2
exit 127
`
}

/** Unverified: written for cmd.exe, not tested there. */
function batch({ node, program }: LauncherOptions): string {
  return [
    '@echo off',
    'rem Written by "wiretape install"; MCP clients start their servers through it.',
    'setlocal DisableDelayedExpansion',
    'set "WIRETAPE_LAUNCHED=1"',
    `set "node=${node}"`,
    `set "program=${program}"`,
    'if not exist "%node%" goto without',
    'if not exist "%program%" goto without',
    '"%node%" "%program%" %*',
    'exit /b %ERRORLEVEL%',
    ':without',
    'echo wiretape: Node or wiretape is gone: this server runs unrecorded 1>&2',
    ':skip',
    'if "%~1"=="" exit /b 127',
    'if "%~1"=="--" goto found',
    'shift',
    'goto skip',
    ':found',
    'shift',
    'set "line="',
    ':collect',
    'if "%~1"=="" goto run',
    'set line=%line% %1',
    'shift',
    'goto collect',
    ':run',
    'set "WIRETAPE_LAUNCHED="',
    'call %line%',
    'exit /b %ERRORLEVEL%',
    '',
  ].join('\r\n')
}
