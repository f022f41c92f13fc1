import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dialog } from '../store/state.js'
import { Icon } from './icons.js'
import { Notice } from './notice.js'

/** A modal box; Escape or a click outside closes it. */
export function Box(props: {
  readonly title: string
  readonly class?: string
  readonly children: ComponentChildren
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    box.current?.showModal()
    // The box should not open with a focus ring on its close button.
    if (document.activeElement?.matches('.box header button')) box.current?.focus()
  }, [])
  const close = (): void => {
    dialog.value = undefined
  }
  return (
    <dialog
      ref={box}
      class={`box ${props.class ?? ''}`}
      aria-label={props.title}
      tabIndex={-1}
      onClose={close}
      onClick={(event) => event.target === box.current && close()}
    >
      <div class="box-inner">
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
      <Notice />
    </dialog>
  )
}
