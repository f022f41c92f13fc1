import { clean } from '../shell/clean.js'

/** A URL from a server: a link that shows its target for http and https; else plain text. */
export function WebLink({ url }: { readonly url: string }) {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return <>{clean(url)}</>
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {clean(url)}
    </a>
  )
}
