import type { ComponentChildren } from 'preact'
import { Boundary } from './boundary.js'
import { listOf } from './peer.js'
import { chosenIn, Pick, usePicker } from './pick.js'
import { textIn } from './values.js'

interface Described {
  readonly name?: unknown
  readonly description?: unknown
}

/** The server's tools or prompts, and a form for the chosen one. */
export function DescribedTab(props: {
  readonly id: 'tools' | 'prompts'
  readonly label: string
  readonly noun: string
  readonly form: (one: Described) => ComponentChildren
}) {
  const { id, label, noun, form } = props
  const picker = usePicker(id, async () => {
    const listed = await listOf<Described>(`${id}/list`, id)
    return listed.map((one) => ({
      key: textIn(one.name),
      name: textIn(one.name),
      about: textIn(one.description),
      one,
    }))
  })
  const chosen = chosenIn(picker)
  return (
    <>
      <Pick label={label} none={`The server has no ${id}.`} noun={noun} picker={picker} />
      {chosen && <Boundary key={chosen.key}>{form(chosen.one)}</Boundary>}
    </>
  )
}
