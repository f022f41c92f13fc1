import type { ComponentChildren } from 'preact'

/** Text with the search matches marked. */
export function Marked({ text, search }: { readonly text: string; readonly search: string }) {
  if (search === '') return <>{text}</>
  const pieces: ComponentChildren[] = []
  const lower = text.toLowerCase()
  const wanted = search.toLowerCase()
  // Some letters change length in lower case; positions would be wrong.
  if (lower.length !== text.length) return <>{text}</>
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0 && pieces.length < 400; at = lower.indexOf(wanted, from)) {
    pieces.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>)
    from = at + wanted.length
  }
  return (
    <>
      {pieces}
      {text.slice(from)}
    </>
  )
}
