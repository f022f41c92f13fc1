#!/usr/bin/env node
// @ts-check
/**
 * Makes pictures of the viewer's screens in three widths, light and dark. The recordings are made with
 * server-everything. Needs Chromium (Debian: apt-get install chromium) and a build. The second argument is the folder
 * for the pictures; the default is a new one.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { launch } from '../bench/lib/browser.mjs'
import { actingScreens } from './screens/acting.mjs'
import { homeScreens } from './screens/home.mjs'
import { readingScreens } from './screens/reading.mjs'
import { workbenchScreens } from './screens/workbench.mjs'

const root = resolve(import.meta.dirname, '..')
const cli = join(root, 'dist/bin/wiretape.js')
export const everything = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const widths = [1440, 1024, 390]
/** @type {Readonly<Record<string, (scene: Scene) => Promise<void>>>} */
const parts = {
  home: homeScreens,
  reading: readingScreens,
  acting: actingScreens,
  workbench: workbenchScreens,
}

/**
 * @typedef {object} Scene
 * @property {(command: string[]) => import('node:child_process').ChildProcessWithoutNullStreams} start a wiretape command
 * @property {(address?: string, ...files: string[]) => Promise<import('playwright-core').Page>} open a page of `wiretape ui`
 * @property {(page: import('playwright-core').Page, name: string) => Promise<void>} shoot in every width and colour
 * @property {string[]} everything the command of the server
 * @property {string} folder where commands run
 */

const [part, given] = process.argv.slice(2)
const out = resolve(given ?? mkdtempSync(join(tmpdir(), 'wiretape-screens-')))
mkdirSync(out, { recursive: true })
const browser = await launch()
try {
  for (const [name, draw] of Object.entries(parts))
    if (part === undefined || part === 'all' || part === name) await play(name, draw)
} finally {
  await browser.close()
}
console.log(out)

/** @param {string} name @param {(scene: Scene) => Promise<void>} draw */
async function play(name, draw) {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-screens-data-'))
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, 'data') }
  /** @type {import('node:child_process').ChildProcess[]} */
  const started = []
  /** @type {Scene['start']} */
  const start = (command) => {
    const child = spawn(process.execPath, [cli, ...command], { cwd: folder, env })
    child.stderr.pipe(process.stderr)
    started.push(child)
    return child
  }
  const scene = {
    start,
    folder,
    everything: [process.execPath, everything],
    /** @type {Scene['open']} */
    async open(address = '', ...files) {
      const server = start(['ui', '--no-open', ...files])
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      page.setDefaultTimeout(20_000)
      const url = await firstAddress(server.stdout)
      await page.goto(url)
      await page.locator('.top-bar').waitFor()
      if (address !== '') await page.goto(new URL(address, url).href)
      return page
    },
    /** @type {Scene['shoot']} */
    async shoot(page, screen) {
      for (const colorScheme of /** @type {const} */ (['light', 'dark']))
        for (const width of widths) {
          await page.setViewportSize({ width, height: width < 700 ? 844 : 900 })
          await page.emulateMedia({ colorScheme })
          await page.waitForTimeout(250)
          await page.screenshot({ path: join(out, `${name}-${screen}-${width}-${colorScheme}.png`) })
        }
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.emulateMedia({ colorScheme: 'light' })
      console.log(`${name}-${screen}`)
    },
  }
  try {
    await draw(scene)
  } finally {
    for (const child of started) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {import('node:stream').Readable} stdout */
async function firstAddress(stdout) {
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\/\/\S+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('wiretape ui printed no address')
}
