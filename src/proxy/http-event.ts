import type { HttpHappening, UnheardMessage } from '../transports/index.js'
import type { Moment } from './stamp.js'

/** An event for the recording thread: with both clocks of the session and its own bytes. */
export type RecordedHttpEvent =
  | (HttpHappening & Moment & { readonly exchange: number })
  | (Omit<UnheardMessage, 'atMs'> & Moment)
