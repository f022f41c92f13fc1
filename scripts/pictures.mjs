#!/usr/bin/env node
// @ts-check
/**
 * Makes the pictures of the README: the viewer in light and dark, and the terminal interface. Needs Chromium and tmux
 * (Debian: apt-get install chromium tmux) and a build (`npm run build`). Writes docs/pictures/*.png.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { launch } from '../bench/lib/browser.mjs'

const root = resolve(import.meta.dirname, '..')
const cli = join(root, 'dist/bin/wiretape.js')
const sample = join(root, 'examples/recordings/sample.jsonl')
const out = join(root, 'docs/pictures')
const size = { width: 1280, height: 720 }
const terminalSize = { columns: 112, rows: 30 }

mkdirSync(out, { recursive: true })
const browser = await launch()
try {
  for (const theme of /** @type {const} */ (['light', 'dark'])) await pictureViewer(theme)
  await pictureTerminal()
} finally {
  await browser.close()
}

/** @param {'light' | 'dark'} theme */
async function pictureViewer(theme) {
  const server = spawn(process.execPath, [cli, 'ui', '--no-open', sample], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const address = await firstAddress(server.stdout)
    const page = await browser.newPage({ viewport: size, colorScheme: theme, deviceScaleFactor: 1.5 })
    await page.goto(address)
    await page.getByText('trigger-sampling').first().click()
    await page.getByRole('button', { name: /^Findings \d/ }).waitFor()
    await page.waitForTimeout(500)
    await page.screenshot({ path: join(out, `viewer-${theme}.png`) })
    await page.close()
    tell(`viewer-${theme}.png`)
  } finally {
    server.kill()
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

async function pictureTerminal() {
  const socket = `wiretape-picture-${randomUUID()}`
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-picture-'))
  const tmux = (/** @type {string[]} */ ...args) =>
    spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: {
        ...process.env,
        LANG: 'C.UTF-8',
        LC_ALL: 'C.UTF-8',
        XDG_DATA_HOME: folder,
        TERM: 'xterm-256color',
      },
    }).stdout
  try {
    const { columns, rows } = terminalSize
    const command = `exec '${process.execPath}' '${cli}' attach '${sample}'`
    tmux(
      'new-session',
      '-d',
      '-s',
      'main',
      '-x',
      `${columns}`,
      '-y',
      `${rows}`,
      command,
      ';',
      'set-option',
      '-g',
      'status',
      'off',
    )
    await shown(() => tmux('capture-pane', '-p', '-t', 'main').includes('q quit'))
    tmux('send-keys', '-t', 'main', 'g', ...Array.from({ length: 27 }, () => 'j'))
    await new Promise((done) => setTimeout(done, 500))
    const painted = tmux('capture-pane', '-p', '-e', '-t', 'main')
    const page = await browser.newPage({ viewport: size, deviceScaleFactor: 1.5 })
    await page.setContent(htmlOf(painted))
    await page.locator('pre').screenshot({ path: join(out, 'terminal.png') })
    await page.close()
    tell('terminal.png')
  } finally {
    tmux('kill-server')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {() => boolean} check */
async function shown(check) {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50)))
    if (check()) return
  throw new Error('the terminal interface was not ready within 30 s')
}

/** Turns tmux's output with SGR sequences (ECMA-48, 8.3.117) into a page. @param {string} painted */
function htmlOf(painted) {
  const colours = ['#45475a', '#f38ba8', '#a6e3a1', '#f9e2af', '#89b4fa', '#f5c2e7', '#94e2d5', '#bac2de']
  let bold = false,
    dim = false,
    inverse = false,
    colour = ''
  const spans = painted
    .trimEnd()
    .split(/(\u001b\[[\d;]*m)/)
    .map((piece) => {
      const codes = /^\u001b\[([\d;]*)m$/.exec(piece)
      if (!codes) {
        const style = [
          bold && 'font-weight:700',
          dim && 'opacity:.6',
          inverse ? `background:${colour || '#cdd6f4'};color:#1e1e2e` : colour && `color:${colour}`,
        ].filter(Boolean)
        return `<span style="${style.join(';')}">${escapeHtml(piece)}</span>`
      }
      for (const code of (codes[1] || '0').split(';').map(Number)) {
        if (code === 0) [bold, dim, inverse, colour] = [false, false, false, '']
        else if (code === 1) bold = true
        else if (code === 2) dim = true
        else if (code === 22) bold = dim = false
        else if (code === 7) inverse = true
        else if (code === 27) inverse = false
        else if (code === 39) colour = ''
        else if (code >= 30 && code <= 37) colour = colours[code - 30] ?? ''
        else if (code >= 90 && code <= 97) colour = colours[code - 90] ?? ''
      }
      return ''
    })
  return `<!doctype html><meta charset="utf-8"><style>body{margin:0}pre{display:inline-block;margin:0;padding:16px 20px;
    font:14px/1.35 'DejaVu Sans Mono',monospace;background:#1e1e2e;color:#cdd6f4;border-radius:8px}</style><pre>${spans.join('')}</pre>`
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** @param {string} name */
function tell(name) {
  console.log(`${relative(root, join(out, name))}  ${Math.round(statSync(join(out, name)).size / 1000)} kB`)
}
