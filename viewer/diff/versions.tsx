import type { OfferVersions } from '../../src/compare/index.js'
import { indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { WordDiff } from '../reading/word-diff.js'
import { clean } from '../shell/clean.js'

/** The texts of a changed definition, word by word. */
export function Versions({
  versions: { change, before, after },
  isOpen = false,
}: {
  readonly versions: OfferVersions
  readonly isOpen?: boolean
}) {
  const texts = change.kind === 'server' ? [{ name: '', before, after }] : changedMembers(before, after)
  if (texts.every((text) => text.before === undefined && text.after === undefined)) return null
  return (
    <details class="versions" open={isOpen}>
      <summary>{change.change === 'changed' ? 'Text changes' : 'Text'}</summary>
      <dl>
        {texts.map((text) => (
          <div key={text.name}>
            {text.name !== '' && <dt>{clean(text.name)}</dt>}
            <dd>
              <WordDiff before={readable(text.before)} after={readable(text.after)} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

interface Texts {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Members of a definition with changed text. */
function changedMembers(before: string | undefined, after: string | undefined): Texts[] {
  const [old, now] = [before, after].map(
    (text) => new Map(text === undefined ? [] : new JsonObject(text, 0).others()),
  ) as [Map<string, string>, Map<string, string>]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const texts = { name, before: old.get(name), after: now.get(name) }
    return texts.before === texts.after ? [] : [texts]
  })
}

function readable(json: string | undefined): string {
  if (json === undefined) return ''
  return json.startsWith('"') ? (JSON.parse(json) as string) : indentJson(json)
}
