import { signal } from '@preact/signals'
import { clean } from '../shell/clean.js'
import type { RowAction } from '../shell/page-door.js'
import { laneName } from '../store/lane-name.js'
import type { Lane } from '../worker/protocol.js'
import { connecting } from './connect.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { store } from './place.js'
import { lanes } from '../store/state.js'
import { attachedTo, channel, form, recordingOf, takeControl, tell, wordsOf } from './state.js'

type Kind = 'again' | 'override' | 'note'
const names: Readonly<Record<Kind, string>> = { again: 'Send again', override: 'Override', note: 'Note' }

/** An action that needs control of the capture first. */
const leading = signal<{ readonly kind: Kind; readonly row: number; readonly lane: Lane } | undefined>(
  undefined,
)

/** Actions for the menu of a row. Without control they are offered too, and say what they need. */
export function rowActions(row: number): readonly RowAction[] {
  const { lane: index, request, answer } = door.rowFacts(row)
  const lane = lanes.value[index]
  // Captures of other machines and files dropped on the page cannot be reached.
  if (lane?.file.path === undefined || store.value !== null) return []
  const kinds: readonly Kind[] = [
    ...(request >= 0 ? (['again'] as const) : []),
    ...(request >= 0 && answer >= 0 ? (['override'] as const) : []),
    'note',
  ]
  return kinds.map((kind) => ({
    name: `${names[kind]}…`,
    run: () => {
      if (channel.value !== undefined && attachedTo.value === index) form.value = { kind, row }
      else leading.value = { kind, row, lane }
    },
  }))
}

const reasons: Readonly<Record<Kind, string>> = {
  again: 'The request is sent to the server of this capture, in the session of its client.',
  override: 'A rule in this capture answers the call from then on, in the place of its server.',
  note: 'The note is written to the recording of this capture.',
}

/** Why an action needs control, and the way to it. */
export function Leading() {
  const led = leading.value
  if (!led) return null
  const { kind, row, lane } = led
  const close = (): void => void (leading.value = undefined)
  const name = clean(laneName(lane))
  const goOn = async (): Promise<void> => {
    close()
    await takeControl(lane)
    if (attachedTo.value === lane.index) form.value = { kind, row }
  }
  const connect = async (): Promise<void> => {
    close()
    try {
      connecting.value = { id: await recordingOf(lane), label: laneName(lane) }
    } catch (error) {
      tell(wordsOf(error), 'bad')
    }
  }
  if (lane.state !== 'following')
    return (
      <FormBox title={names[kind]} close={close}>
        <p>
          The recording of {name} has ended. {names[kind]} needs a live capture.
        </p>
        {kind === 'again' && (
          <>
            <p>Connect to its server to call it again: the command is shown first.</p>
            <button type="button" class="button primary" onClick={() => void connect()}>
              Connect
            </button>
          </>
        )}
      </FormBox>
    )
  return (
    <FormBox title={names[kind]} close={close}>
      <p>
        {reasons[kind]} For that, the page takes control of {name}.
      </p>
      <p class="quiet">Nothing is held or changed until you do it. Release control ends this.</p>
      <button type="button" class="button primary" onClick={() => void goOn()}>
        Take control and continue
      </button>
    </FormBox>
  )
}
