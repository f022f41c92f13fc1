import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * True when our process group is the one that a terminal sends Ctrl-C and Ctrl-\ to. The server is in the
 * same group, so it has got such a signal from the terminal already. When it cannot be found out: false.
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
