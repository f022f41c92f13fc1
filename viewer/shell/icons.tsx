/** Icons of 16 by 16 units, drawn for this page, in the colour of the text. */
const frame = { width: 16, height: 16, viewBox: '0 0 16 16', 'aria-hidden': true, class: 'icon' } as const
const stroke = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': 1.5,
  'stroke-linecap': 'round',
} as const

export function Arrow({ left }: { readonly left: boolean }) {
  return (
    <svg {...frame} class={`icon arrow ${left ? 'left' : 'right'}`}>
      <path {...stroke} d={left ? 'M13 8H3.5M7 4.5 3.5 8 7 11.5' : 'M3 8h9.5M9 4.5 12.5 8 9 11.5'} />
    </svg>
  )
}

export function Chevron({ open }: { readonly open: boolean }) {
  return (
    <svg {...frame}>
      <path {...stroke} d={open ? 'M4.5 6.5 8 10l3.5-3.5' : 'M6.5 4.5 10 8l-3.5 3.5'} />
    </svg>
  )
}

export function Reels() {
  return (
    <svg width="26" height="16" viewBox="0 0 26 16" aria-hidden class="icon reels">
      <circle cx="6" cy="7" r="4.6" fill="none" stroke="currentColor" stroke-width="1.6" />
      <circle cx="20" cy="7" r="4.6" fill="none" stroke="currentColor" stroke-width="1.6" />
      <circle cx="6" cy="7" r="1.2" fill="currentColor" />
      <circle cx="20" cy="7" r="1.2" fill="currentColor" />
      <path d="M3 12.8h20" {...stroke} stroke-width="1.6" />
    </svg>
  )
}

const paths = {
  copy: 'M6 5.5V3.2h7v7h-2.2M3 6h7.5v7H3z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14',
  open: 'M2 12.5v-9h4l1.5 2H14v7z',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z',
  close: 'M4 4l8 8M12 4l-8 8',
  help: 'M6 6.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 12v.2',
  down: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  command: 'M3 5l3 3-3 3M8 11.5h5',
  warn: 'M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
  back: 'M13 8H3.5M7 4.5 3.5 8 7 11.5',
  marker: 'M3 13.5h10M5 10.5 10.5 3 13 5l-5.5 7L4.5 12z',
} as const

export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg {...frame}>
      <path {...stroke} stroke-linejoin="round" d={paths[name]} />
    </svg>
  )
}
