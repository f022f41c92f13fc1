import type { Socket } from 'node:net'

/** Forwards bytes both ways without reading them. A slow side slows the other; an end stays an end. */
export function splice(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined)
    from.once('close', () => {
      if (from.readableEnded) to.destroySoon()
      else to.destroy()
    })
    from.pipe(to)
  }
}
