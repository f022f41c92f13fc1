import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** Accepts files dropped anywhere on the page. */
export function DropArea(props: {
  readonly onFiles: (files: readonly File[]) => void
  readonly children: ComponentChildren
}) {
  const over = useSignal(0)
  return (
    <div
      class="drop-area"
      onDragEnter={(event) => {
        event.preventDefault()
        over.value += 1
      }}
      onDragOver={(event) => event.preventDefault()}
      onDragLeave={() => {
        over.value = Math.max(0, over.value - 1)
      }}
      onDrop={(event) => {
        event.preventDefault()
        over.value = 0
        props.onFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      {props.children}
      {over.value > 0 && (
        <div class="drop-here">
          <p>Drop recordings to open them</p>
        </div>
      )}
    </div>
  )
}
