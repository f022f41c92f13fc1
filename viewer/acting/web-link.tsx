import { clean } from '../shell/clean.js'

/** An address that a server gave: a link that shows where it leads, if it is one of the web; else its text. */
export function WebLink({ url }: { readonly url: string }) {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return <>{clean(url)}</>
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {clean(url)}
    </a>
  )
}
