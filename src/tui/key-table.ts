/** What a key does while a list is on the screen. */
export type Act =
  | 'down'
  | 'up'
  | 'page-down'
  | 'page-up'
  | 'first'
  | 'last'
  | 'follow'
  | 'next-error'
  | 'previous-error'
  | 'next-held'
  | 'focus'
  | 'zoom'
  | 'other-half'
  | 'filter'
  | 'intercept'
  | 'forward'
  | 'forward-all'
  | 'drop'
  | 'edit'
  | 'answer'
  | 'compose'
  | 'compose-back'
  | 'break'
  | 'again'
  | 'editor'
  | 'copy'
  | 'save'
  | 'reload'
  | 'note'
  | 'findings'
  | 'help'
  | 'back'
  | 'quit'

export interface Binding {
  /** As `Key.name`; the first one is the one that is shown. */
  readonly keys: readonly string[]
  readonly act: Act
  readonly help: string
}

/** The one list of keys: what the screen obeys and what it explains. */
export const keyTable: readonly Binding[] = [
  {
    keys: ['i'],
    act: 'intercept',
    help: 'hold messages, or pass all on and hold no more',
  },
  {
    keys: ['f', 'f5'],
    act: 'forward',
    help: 'pass the held message on',
  },
  {
    keys: ['d', 'f8'],
    act: 'drop',
    help: 'let the held message go nowhere',
  },
  {
    keys: ['m', 'f6'],
    act: 'edit',
    help: 'change the held message, then pass it on',
  },
  { keys: ['a'], act: 'answer', help: 'answer the held request yourself' },
  { keys: ['A'], act: 'forward-all', help: 'pass on all that is held; go on holding' },
  { keys: ['h'], act: 'next-held', help: 'go to the next held message' },
  { keys: ['b'], act: 'break', help: 'hold only what matches a filter, such as this message' },
  {
    keys: ['r', 'f9'],
    act: 'again',
    help: 'send this request again and compare the answers',
  },
  { keys: ['c'], act: 'compose', help: 'send a message of your own to the server' },
  { keys: ['C'], act: 'compose-back', help: 'send a message of your own to the client' },
  { keys: ['/'], act: 'filter', help: 'show only what matches a filter' },
  { keys: ['s'], act: 'save', help: 'save a session file; its path is asked for' },
  { keys: ['R'], act: 'reload', help: 'start the server again; its client stays connected' },
  { keys: ['N'], act: 'note', help: 'put a note about this message on the tape' },
  { keys: ['y'], act: 'copy', help: 'copy the message to the clipboard' },
  { keys: ['e'], act: 'editor', help: 'open the message in $EDITOR' },
  { keys: ['j', 'down'], act: 'down', help: 'down' },
  { keys: ['k', 'up'], act: 'up', help: 'up' },
  { keys: ['pagedown', 'ctrl+f', ' '], act: 'page-down', help: 'a page down' },
  { keys: ['pageup', 'ctrl+b'], act: 'page-up', help: 'a page up' },
  { keys: ['g', 'home'], act: 'first', help: 'to the first message' },
  { keys: ['G', 'end'], act: 'last', help: 'to the last message, and follow' },
  { keys: ['F'], act: 'follow', help: 'follow what comes, or stay' },
  { keys: ['n'], act: 'next-error', help: 'to the next error' },
  { keys: ['p'], act: 'previous-error', help: 'to the error before' },
  { keys: ['!'], act: 'findings', help: 'what rules found; Enter goes to the message' },
  { keys: ['x'], act: 'other-half', help: 'to the answer of this request, or the request of this answer' },
  { keys: ['tab', 'shift+tab'], act: 'focus', help: 'move in the list or in the message' },
  { keys: ['enter', 'z'], act: 'zoom', help: 'the message on the whole screen, or beside the list' },
  { keys: ['esc'], act: 'back', help: 'out of what is open; then the filter away' },
  { keys: ['?', 'f1'], act: 'help', help: 'this help' },
  {
    keys: ['q', 'ctrl+c'],
    act: 'quit',
    help: 'leave; the screen that owns the capture saves and ends it',
  },
]

const acts = new Map(keyTable.flatMap(({ keys, act }) => keys.map((key) => [key, act] as const)))

export function actOf(key: string): Act | undefined {
  return acts.get(key)
}

/** A key as people read it. */
export function keyLabel(key: string): string {
  return labels[key] ?? (/^f\d+$/.test(key) ? key.toUpperCase() : key)
}

const labels: Readonly<Record<string, string>> = {
  ' ': 'Space',
  up: '↑',
  down: '↓',
  enter: 'Enter',
  esc: 'Esc',
  tab: 'Tab',
  'shift+tab': 'Shift+Tab',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  home: 'Home',
  end: 'End',
  'ctrl+c': 'Ctrl+C',
  'ctrl+f': 'Ctrl+F',
  'ctrl+b': 'Ctrl+B',
}
