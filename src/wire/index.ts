export {
  elementsOf,
  findJsonValue,
  forEachMember,
  isFault,
  kindAt,
  memberOf,
  membersOf,
  skipValue,
} from './json-text.js'
export type { JsonKind, Member, Span } from './json-text.js'
export { decodeString, skipString, skipWhiteSpace } from './json-strings.js'
export { canonicalNumber } from './json-numbers.js'
export { spliceText } from './json-splice.js'
export type { TextEdit } from './json-splice.js'
export { eachScalar, jsonIn, jsonObjectIn, type Scalar } from './json-values.js'
export { pointerStep, pointerSteps, valueAt } from './json-pointer.js'
export { statusOfError } from './error-status.js'
export { longestMessage } from './limits.js'
export {
  bytesOf,
  matches,
  numberAt,
  skipAny,
  skipCount,
  skipDigits,
  skipNumber,
  skipPlainText,
  skipSpace,
  skipText,
  unusualValues,
} from './json-bytes.js'
export { containsText } from './text-search.js'
export { isLittleEndian } from './endian.js'
export { createMessageMemory, nowhere, messageMemory } from './message-memory.js'
export { createByteTexts } from './byte-texts.js'
export { mayHaveControls } from './control-bytes.js'
export { PlainMessage, type PlainKind } from './plain-message.js'
export { LineFramer } from './line-framer.js'
export type { LineFrame } from './line-framer.js'
export { holdsMessages, partsOf } from './batch.js'
export {
  isSpoken,
  messagesIn,
  messagesOrNone,
  messagesOf,
  readFrame,
  readLine,
  readMessages,
  readParts,
  type FrameText,
  type Message,
} from './message.js'
export { failureText } from './failure-text.js'
export { withIds } from './splice-ids.js'
export { answersMethod, envelopeMembers, envelopeOf, readEnvelope } from './envelope.js'
export { seekInside, seekMembers, type Found, type Sought } from './json-seek.js'
export { HeldBytes } from './held-bytes.js'
export { idKey } from './id-key.js'
export { JsonObject } from './json-object.js'
export {
  argumentHeaders,
  argumentsIn,
  createMirroredTools,
  decodedHeader,
  encodedHeader,
  isSameHeader,
  mirroredArguments,
  mirroredValue,
  namedMethods,
  standardHeaders,
  type McpHeader,
  type MirroredArgument,
} from './mcp-headers.js'
export { createJsonPieces, incompleteDocument } from './json-pieces.js'
export type { JsonPath, JsonPiece, JsonPieces, JsonPiecesOptions } from './json-pieces.js'
export { onOneLine } from './json-compact.js'
export { readWritten } from './written.js'
export { SseParser } from './sse.js'
export { reconnectDelayMs } from './sse-fields.js'
export type { SseEvent } from './sse.js'
export type { EventPassage, Passing, RawHeaders } from './passage.js'
