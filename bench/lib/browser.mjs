// @ts-check
/** Starts a real Chromium for measurements, and reads the memory of its pages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const places = [
  process.env['WIRETAPE_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of an installed Chromium; undefined if there is none. */
export function findChromium() {
  return places.find((path) => path !== undefined && existsSync(path))
}

export async function launch() {
  const executablePath = findChromium()
  if (executablePath === undefined)
    throw new Error(
      'there is no Chromium: install one (Debian: apt-get install chromium) or set WIRETAPE_CHROMIUM',
    )
  // Chromium has no sandbox for root; the pages are our own.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

/** Resident memory of the largest page process, in MB; undefined on systems without /proc. */
export function pageMemoryMb() {
  let largest = 0
  for (const pid of existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!command.includes('--type=renderer') || !isOurs(pid)) continue
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const anonymous = Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0)
      largest = Math.max(largest, anonymous / 1024)
    } catch {
      // The process has ended.
    }
  }
  return largest === 0 ? undefined : largest
}

/** Whether a process descends from this one; browsers of other users are not counted. @param {string} pid */
function isOurs(pid) {
  for (let at = pid; at !== '0' && at !== '1';) {
    if (at === String(process.pid)) return true
    const stat = readFileSync(`/proc/${at}/stat`, 'latin1')
    at = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0'
  }
  return false
}
