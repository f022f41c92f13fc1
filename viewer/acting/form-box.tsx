import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { form } from './state.js'

/** A modal box for an action; Escape closes it. Keys typed in it are not shortcuts of the page. */
export function FormBox(props: {
  readonly title: string
  readonly children: ComponentChildren
  /** @default closes the form of the page */
  readonly close?: () => void
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => box.current?.showModal(), [])
  const close = props.close ?? ((): void => void (form.value = undefined))
  return (
    <dialog
      ref={box}
      class="box act-box"
      aria-label={props.title}
      onClose={close}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="box-inner">
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="button small" onClick={close}>
            Close
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  )
}
