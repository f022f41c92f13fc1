import type { Stats } from 'node:fs'

/**
 * Why somebody else may have written a file, or what is in a folder; undefined when only our own user and root can.
 * Systems without these rights say nothing.
 *
 * @param trustedUid another user who may, such as the owner of what the file is about
 */
export function whyNotOurs(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  trustedUid?: number,
): string | undefined {
  const own = process.geteuid?.()
  if (own === undefined || process.platform === 'win32') return undefined
  if (uid !== own && uid !== 0 && uid !== trustedUid) return `it belongs to another user (uid ${uid})`
  if ((mode & 0o002) !== 0) return 'every user can write it'
  // Many systems give each user a group of the same number, with nobody else in it.
  return (mode & 0o020) !== 0 && gid !== uid ? `its group can write it (gid ${gid})` : undefined
}
