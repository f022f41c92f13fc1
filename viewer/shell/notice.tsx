import { useEffect } from 'preact/hooks'
import { notice } from '../store/state.js'

const plainMs = 2_500
/** Longer, since other notices have longer sentences. */
const otherMs = 9_000

/** A sentence that disappears by itself. */
export function Notice() {
  const told = notice.value
  useEffect(() => {
    if (!told || told.stays === true) return undefined
    const timer = setTimeout(() => (notice.value = undefined), told.tone === 'plain' ? plainMs : otherMs)
    return () => clearTimeout(timer)
  }, [told])
  return (
    <div class="notices" role="status" aria-live="polite">
      {told && <p class={`notice ${told.tone}`}>{told.text}</p>}
    </div>
  )
}
