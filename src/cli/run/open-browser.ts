import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Opens an address in the user's browser. Other users can read program arguments, so the browser gets the path of a
 * private file that redirects to the address. Does nothing without a browser, or if it cannot read the file.
 *
 * @param folder for the file; created if missing
 * @returns a function that removes the file
 */
export function openBrowser(address: string, folder: string): () => void {
  const path = join(folder, `open-${process.pid}.html`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    rmSync(path, { force: true })
    writeFileSync(path, redirectTo(address), { mode: 0o600, flag: 'wx' })
  } catch {
    return () => undefined
  }
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', path]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', path]
        : ['xdg-open', path]
  const browser = spawn(program, args, { stdio: 'ignore', detached: true })
  browser.once('error', () => undefined)
  browser.unref()
  return () => rmSync(path, { force: true })
}

/** The address replaces this page in the history. It is our own and needs no escaping. */
function redirectTo(address: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>wiretape</title>
<script>location.replace(${JSON.stringify(address)})</script>
`
}
