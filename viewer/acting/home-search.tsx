import { signal } from '@preact/signals'
import type { FoundMessage, SearchFound } from '../../src/control-schema/index.js'
import { countOf } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { door } from './door.js'
import { wordsOf } from './state.js'

interface Searched {
  readonly words: string
  /** Undefined during the search. */
  readonly found?: SearchFound
  readonly failure?: string
}

/** The last search in all recordings; undefined if none. */
export const searched = signal<Searched | undefined>(undefined)

export async function searchAll(words: string): Promise<void> {
  if (words.trim() === '') return void (searched.value = undefined)
  const begun: Searched = { words }
  searched.value = begun
  let next: Searched
  try {
    const response = await door.fetch(`./api/search?q=${encodeURIComponent(words)}`)
    if (!response.ok) throw new Error((await response.text()).trim())
    next = { words, found: (await response.json()) as SearchFound }
  } catch (error) {
    next = { words, failure: wordsOf(error) }
  }
  if (searched.value === begun) searched.value = next
}

/** Matches by recording; each links to its message. @param search repeats the search with other words */
export function FoundMessages({ search }: { readonly search: (words: string) => void }) {
  const { words, found, failure } = searched.value!
  if (failure !== undefined)
    return (
      <>
        <p class="failure" role="alert">
          {clean(failure)}
        </p>
        {!words.startsWith('"') && (
          <p class="act-run">
            <button type="button" class="button" onClick={() => search(quoted(words))}>
              Search for this text
            </button>
          </p>
        )}
      </>
    )
  if (!found)
    return (
      <p class="quiet" role="status">
        Searching…
      </p>
    )
  return (
    <section class="home-found" aria-label="Search results">
      <p class="quiet" role="status">
        {countOf(found.matches.length, 'match', 'matches')} for {clean(words)}
        {found.isCut && '. There are more: narrow the search.'}
      </p>
      <ul>
        {found.matches.map((match, i) => (
          <li key={i}>
            <a
              href={`./?open=${match.id}${match.sequence === null ? '' : `#messages=all&seq=${match.sequence}`}`}
            >
              <b>{clean(match.label ?? '')}</b>
              <span class="number">{match.sequence === null ? '–' : `#${match.sequence}`}</span>
              <span>{clean(`${match.method ?? ''} ${match.subject ?? ''}`.trim())}</span>
              <Snippet {...match} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A text in the filter language. */
function quoted(text: string): string {
  return `"${text.trim().replaceAll(/[\\"]/g, String.raw`\$&`)}"`
}

function Snippet({ snippet, match }: FoundMessage) {
  if (!match) return <code>{clean(snippet)}</code>
  return (
    <code>
      {clean(snippet.slice(0, match.start))}
      <mark>{clean(snippet.slice(match.start, match.end))}</mark>
      {clean(snippet.slice(match.end))}
    </code>
  )
}
