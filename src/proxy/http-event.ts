import type { HttpHappening, UnheardMessage } from '../transports/index.js'
import type { Moment } from './stamp.js'

/** An event as it is handed to the recording thread: by both clocks of the session, with bytes of its own. */
export type RecordedHttpEvent =
  | (HttpHappening & Moment & { readonly exchange: number })
  | (Omit<UnheardMessage, 'atMs'> & Moment)
