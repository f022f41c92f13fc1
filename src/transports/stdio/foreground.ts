import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Whether our process group is the one to which a terminal sends Ctrl-C and Ctrl-\. The server is in the same
 * group, so it has already received such a signal from the terminal. False when unknown.
 */
export function isForegroundGroup(): boolean {
  try {
    if (process.platform === 'linux') {
      // proc(5): after the name in parentheses come state, ppid, pgrp, session, tty_nr, tpgid.
      const stat = readFileSync('/proc/self/stat', 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[4] !== '0' && fields[2] === fields[5]
    }
    const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], {
      encoding: 'latin1',
    })
    const [pgid, tpgid] = stdout.trim().split(/\s+/)
    return pgid !== undefined && pgid === tpgid
  } catch {
    return false
  }
}
