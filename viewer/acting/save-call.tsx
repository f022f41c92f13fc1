import { useState } from 'preact/hooks'
import { askToAct } from './channel.js'
import { session } from './session.js'
import { recordingOf, target, tell, wordsOf } from './state.js'

/** Saves a call, with its response as the expected one. */
export function SaveCall(props: {
  readonly method: string
  readonly params: string
  readonly answer: string
  /** @default the recording of this page's session, or of the live capture */
  readonly recording?: string
}) {
  const [file, setFile] = useState('calls.yaml')
  const { method, params, answer } = props
  const save = async (): Promise<void> => {
    try {
      const lane = target.value
      const recording = props.recording ?? session.value?.recording ?? (lane && (await recordingOf(lane)))
      const { told } = (await askToAct('./api/saved', {
        type: 'save',
        file,
        recording,
        method,
        params,
        answer,
      })) as {
        readonly told: string
      }
      tell(told)
    } catch (error) {
      tell(wordsOf(error), 'bad')
    }
  }
  return (
    <p class="act-run">
      <label class="act-times">
        Save to{' '}
        <input
          type="text"
          aria-label="File of saved calls"
          value={file}
          onInput={({ currentTarget }) => setFile(currentTarget.value)}
          onKeyDown={(event) => {
            // Otherwise Enter would submit the surrounding form and send the request again.
            if (event.key !== 'Enter') return
            event.preventDefault()
            void save()
          }}
        />
      </label>
      <button type="button" class="button small" onClick={() => void save()}>
        Save the call
      </button>
    </p>
  )
}
