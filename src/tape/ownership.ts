import type { Stats } from 'node:fs'

/**
 * The reason why other users could have written a file, or the contents of a folder; undefined when only the own
 * user and root can. Always undefined on systems without these permissions.
 *
 * @param trustedUid another trusted user, such as the owner of the file that this one describes
 */
export function whyNotOurs(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  trustedUid?: number,
): string | undefined {
  const own = process.geteuid?.()
  if (own === undefined || process.platform === 'win32') return undefined
  if (uid !== own && uid !== 0 && uid !== trustedUid) return `it belongs to another user (uid ${uid})`
  if ((mode & 0o002) !== 0) return 'every user can write to it'
  // Many systems give each user a group of the same number without other members.
  return (mode & 0o020) !== 0 && gid !== uid ? `its group can write to it (gid ${gid})` : undefined
}
