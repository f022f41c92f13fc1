import { useState } from 'preact/hooks'

/** A menu that its button opens and closes. Escape, and a focus elsewhere, close it too. */
export function useMenu() {
  const [open, setOpen] = useState(false)
  return {
    open,
    setOpen,
    /** For the element around button and menu. */
    closing: {
      onKeyDown(event: KeyboardEvent) {
        if (event.key !== 'Escape' || !open) return
        event.stopPropagation()
        setOpen(false)
      },
      onFocusOut({ currentTarget, relatedTarget }: FocusEvent) {
        if (!(currentTarget as Node).contains(relatedTarget as Node | null)) setOpen(false)
      },
    },
  }
}
