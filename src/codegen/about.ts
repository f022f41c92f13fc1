/** Facts for the header of a generated file. */
export interface About {
  readonly server: string
  readonly version: string
  /** ISO 8601. */
  readonly recordedAt: string
  readonly target: { readonly command: readonly string[] } | { readonly url: string }
}

export function aboutLine({ server, version, recordedAt }: About): string {
  const what = [server, version]
    .filter(Boolean)
    .join(' ')
    .replaceAll(/[^\u{20}-\u{7e}]/gu, '?')
  return `Made by wiretape codegen from a recording of ${what} of ${recordedAt.slice(0, 10)}. It is yours to edit.`
}
