import type { PageDoor } from '../shell/page-door.js'

/** The page's interface for this script. */
export const door = (globalThis as unknown as { readonly wiretapePage: PageDoor }).wiretapePage
