/** Actions of keys while a list is on the screen. */
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
  /** As `Key.name`; help shows the first. */
  readonly keys: readonly string[]
  readonly act: Act
  readonly help: string
}

/** The only list of keys: key handling and help both use it. */
export const keyTable: readonly Binding[] = [
  {
    keys: ['i'],
    act: 'intercept',
    help: 'start holding messages, or forward all and stop holding',
  },
  {
    keys: ['f', 'f5'],
    act: 'forward',
    help: 'forward the held message',
  },
  {
    keys: ['d', 'f8'],
    act: 'drop',
    help: 'drop the held message',
  },
  {
    keys: ['m', 'f6'],
    act: 'edit',
    help: 'edit the held message, then forward it',
  },
  { keys: ['a'], act: 'answer', help: 'answer the held request yourself' },
  { keys: ['A'], act: 'forward-all', help: 'forward all held messages; keep holding new ones' },
  { keys: ['h'], act: 'next-held', help: 'next held message' },
  { keys: ['b'], act: 'break', help: 'hold only messages that match a filter' },
  {
    keys: ['r', 'f9'],
    act: 'again',
    help: 'send this request again and compare the responses',
  },
  { keys: ['c'], act: 'compose', help: 'send a message of your own to the server' },
  { keys: ['C'], act: 'compose-back', help: 'send a message of your own to the client' },
  { keys: ['/'], act: 'filter', help: 'show only messages that match a filter' },
  { keys: ['s'], act: 'save', help: 'save a session file (asks for its path)' },
  { keys: ['R'], act: 'reload', help: 'restart the server; its client stays connected' },
  { keys: ['N'], act: 'note', help: 'add a note about this message to the tape' },
  { keys: ['y'], act: 'copy', help: 'copy the message to the clipboard' },
  { keys: ['e'], act: 'editor', help: 'open the message in $EDITOR' },
  { keys: ['j', 'down'], act: 'down', help: 'down' },
  { keys: ['k', 'up'], act: 'up', help: 'up' },
  { keys: ['pagedown', 'ctrl+f', ' '], act: 'page-down', help: 'a page down' },
  { keys: ['pageup', 'ctrl+b'], act: 'page-up', help: 'a page up' },
  { keys: ['g', 'home'], act: 'first', help: 'first message' },
  { keys: ['G', 'end'], act: 'last', help: 'last message, and follow' },
  { keys: ['F'], act: 'follow', help: 'follow new messages, or stop following' },
  { keys: ['n'], act: 'next-error', help: 'next error' },
  { keys: ['p'], act: 'previous-error', help: 'previous error' },
  { keys: ['!'], act: 'findings', help: 'findings; Enter goes to the message' },
  { keys: ['x'], act: 'other-half', help: 'response of this request, or request of this response' },
  { keys: ['tab', 'shift+tab'], act: 'focus', help: 'move between the list and the message' },
  { keys: ['enter', 'z'], act: 'zoom', help: 'zoom the message to the whole screen, or back' },
  { keys: ['esc'], act: 'back', help: 'close the open view; then remove the filter' },
  { keys: ['?', 'f1'], act: 'help', help: 'this help' },
  {
    keys: ['q', 'ctrl+c'],
    act: 'quit',
    help: 'quit; the screen that owns the capture saves and ends it',
  },
]

const acts = new Map(keyTable.flatMap(({ keys, act }) => keys.map((key) => [key, act] as const)))

export function actOf(key: string): Act | undefined {
  return acts.get(key)
}

/** A key as displayed. */
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
