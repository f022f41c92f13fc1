/** Characters in which a stream must show that it uses HTTP+SSE. */
const longestFirstEvent = 4_096

/** Finds the endpoint in the first event of an HTTP+SSE stream (2024-11-05). Does nothing after that event. */
export function createEndpointWatch(found: (endpoint: string) => void): (bytes: Uint8Array) => void {
  let text: string | undefined = ''
  return (bytes) => {
    if (text === undefined) return
    text += Buffer.from(bytes.subarray(0, longestFirstEvent)).toString('utf8')
    const lines = text.split(/\r\n|\r|\n/)
    const end = lines.findIndex((line, n) => line === '' && n > 0 && n < lines.length - 1)
    if (end < 0 && text.length < longestFirstEvent) return
    text = undefined
    const event = lines.slice(0, end)
    const data = event.find((line) => line.startsWith('data:'))
    if (data !== undefined && event.some((line) => /^event: ?endpoint$/.test(line)))
      found(data.replace(/^data: ?/, ''))
  }
}
