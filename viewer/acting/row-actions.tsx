import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { JsonObject, readEnvelope } from '../../src/wire/index.js'
import { clean } from '../shell/clean.js'
import type { RowAction } from '../shell/page-door.js'
import { laneName } from '../store/lane-name.js'
import type { Lane } from '../worker/protocol.js'
import { askToAct } from './channel.js'
import { connecting } from './connect.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { store } from './place.js'
import { canOverride, canSendAgain } from './possible.js'
import { saidBy } from './row-forms.js'
import { SaveCall } from './save-call.js'
import { lanes } from '../store/state.js'
import { attachedTo, channel, form, recordingOf, takeControl, tell, wordsOf } from './state.js'
import { wantedIn } from './wanted.js'

type Kind = 'again' | 'override' | 'note'
const names: Readonly<Record<Kind, string>> = { again: 'Send again', override: 'Override', note: 'Note' }

/** An action that needs control of the capture, or a connection, first. */
const leading = signal<{ readonly kind: Kind; readonly row: number; readonly lane: Lane } | undefined>(
  undefined,
)

/** Row of a call to save. */
const saving = signal<{ readonly row: number; readonly lane: Lane } | undefined>(undefined)

/** Actions for the menu of a row: those that are possible, perhaps after taking control or connecting. */
export function rowActions(row: number): readonly RowAction[] {
  const { lane: index, answer } = door.rowFacts(row)
  const lane = lanes.value[index]
  // Captures of other machines and files dropped on the page cannot be reached.
  if (lane?.file.path === undefined || store.value !== null) return []
  const isLive = lane.state === 'following'
  const kinds: readonly Kind[] = [
    ...(canSendAgain(row) ? (['again'] as const) : []),
    ...(isLive && canOverride(row) ? (['override'] as const) : []),
    ...(isLive ? (['note'] as const) : []),
  ]
  const actions = kinds.map((kind) => ({
    name: `${names[kind]}…`,
    run: () => {
      if (channel.value !== undefined && attachedTo.value === index) form.value = { kind, row }
      else leading.value = { kind, row, lane }
    },
  }))
  const save = { name: 'Save the call…', run: () => void (saving.value = { row, lane }) }
  return canSendAgain(row) && answer >= 0 ? [...actions, save] : actions
}

/** A recorded call and its response, for a file of saved calls. */
export function SavingRow() {
  const open = saving.value
  const [call, setCall] = useState<RecordedCall | undefined>(undefined)
  useEffect(() => {
    setCall(undefined)
    if (open) void recordedCall(open.row, open.lane).then(setCall)
  }, [open])
  const why = call?.why
  if (!open) return null
  return (
    <FormBox title="Save the call" close={() => (saving.value = undefined)}>
      {why === undefined ? (
        <p class="quiet">
          The recorded response becomes the expected one. wiretape run makes the call again.
        </p>
      ) : (
        <p>This call cannot be saved, because wiretape must not run its server again: {clean(why)}.</p>
      )}
      {call && why === undefined && <SaveCall {...call} />}
    </FormBox>
  )
}

interface RecordedCall {
  readonly recording: string
  readonly method: string
  readonly params: string
  readonly answer: string
  /** Why its server must not be run. */
  readonly why?: string | undefined
}

async function recordedCall(row: number, lane: Lane): Promise<RecordedCall | undefined> {
  const { request, answer } = door.rowFacts(row)
  try {
    const asked = saidBy(await door.detail(request)).text
    const recording = await recordingOf(lane)
    const { why } = (await askToAct(`./api/recordings/${recording}/server`)) as { readonly why?: string }
    return {
      why,
      recording,
      method: readEnvelope(asked, 0).method ?? '',
      params: new JsonObject(asked, 0).raw('params') ?? '{}',
      answer: saidBy(await door.detail(answer)).text,
    }
  } catch (error) {
    tell(wordsOf(error), 'bad')
    return undefined
  }
}

const reasons: Readonly<Record<Kind, string>> = {
  again: 'The request is sent to the server of this capture, in the session of its client.',
  override: 'A rule of this capture answers the call from then on, in place of the server.',
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
      const { text } = saidBy(await door.detail(door.rowFacts(row).request))
      connecting.value = { id: await recordingOf(lane), label: laneName(lane), request: wantedIn(text) }
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
            <p>
              Connect to its server to send the request: the command is shown first, then the form with the
              recorded values.
            </p>
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
      <p class="quiet">Nothing is held or changed until you choose to. Release control ends this.</p>
      <button type="button" class="button primary" onClick={() => void goOn()}>
        Take control and continue
      </button>
    </FormBox>
  )
}
