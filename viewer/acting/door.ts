import type { PageDoor } from '../shell/page-door.js'

/** What the page lets this script have. */
export const door = (globalThis as unknown as { readonly wiretapePage: PageDoor }).wiretapePage
