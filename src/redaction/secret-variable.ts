/** Variables that every shell has, with other contents. */
const ofShells: ReadonlySet<string> = new Set(
  'CI,DISPLAY,EDITOR,HOME,HOST,HOSTNAME,LANG,LANGUAGE,LOGNAME,MAIL,NAME,OLDPWD,OS,PAGER,PATH,PWD,SHELL,TEMP,TERM,TMP,TMPDIR,TZ,USER,USERNAME'.split(
    ',',
  ),
)

/**
 * The environment variable for a redacted value, in generated tests and in replays: `API_KEY` for `apiKey`.
 *
 * @param member name of the member that holds the value
 */
export function secretVariable(member: string): string {
  const plain = member
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .toUpperCase()
  return /^[A-Z]/.test(plain) && !ofShells.has(plain) ? plain : `SECRET_${plain}`
}
