import type { Rule } from '../finding.js'
import { cancelledAnswered, cancelledInitialize } from './protocol/cancellation.js'
import { capabilities } from './protocol/capabilities.js'
import { deprecated } from './protocol/deprecated.js'
import { direction } from './protocol/direction.js'
import { ids } from './protocol/ids.js'
import { invalidMessage } from './protocol/invalid-message.js'
import { eventId, reusedSession, shortSession } from './protocol/sessions.js'
import { lostSession } from './protocol/lost-session.js'
import { order } from './protocol/order.js'
import { progress } from './protocol/progress.js'
import { secondResponse, strayResponse, unanswered } from './protocol/responses.js'
import { requestState } from './protocol/rounds.js'
import { officialSchema } from './protocol/schema.js'
import { strayOutput } from './protocol/stray-output.js'
import { longLine, mirroredHeaders, missingMeta, removedBatch, versionHeader } from './protocol/transport.js'
import { annotations, changedDefinition, elicitSecret, shadowing } from './safety/definitions.js'
import { tokenAudience, tokenPassthrough } from './safety/credentials.js'
import { agentDirective } from './safety/directives.js'
import { executedFlow, secretFlow } from './safety/flows.js'
import { pkce, resourceMetadata, resourceParameter } from './safety/oauth.js'
import { hiddenText } from './safety/hidden-text.js'
import { plainHttp } from './safety/plain-http.js'
import {
  exfiltratingLink,
  riskyArgument,
  sessionInUrl,
  tokenInUrl,
  unpinnedLaunch,
} from './safety/requests.js'
import { nameLength, schemaPortable, schemaRoot } from './schemas/definitions.js'
import { elicitationAnswer, inputSchema, outputSchema } from './schemas/output.js'

/** Every rule that needs no word from the user, by pack. A new one is a file, a line here, a test and a part of docs/findings.md. */
export const rules: readonly Rule[] = [
  invalidMessage,
  officialSchema,
  strayOutput,
  order,
  ids,
  secondResponse,
  strayResponse,
  unanswered,
  direction,
  capabilities,
  progress,
  cancelledInitialize,
  cancelledAnswered,
  longLine,
  removedBatch,
  versionHeader,
  mirroredHeaders,
  missingMeta,
  lostSession,
  reusedSession,
  shortSession,
  eventId,
  requestState,
  deprecated,
  schemaRoot,
  schemaPortable,
  nameLength,
  outputSchema,
  inputSchema,
  elicitationAnswer,
  changedDefinition,
  hiddenText,
  agentDirective,
  shadowing,
  annotations,
  elicitSecret,
  riskyArgument,
  tokenInUrl,
  tokenPassthrough,
  tokenAudience,
  sessionInUrl,
  plainHttp,
  unpinnedLaunch,
  exfiltratingLink,
  secretFlow,
  executedFlow,
  pkce,
  resourceParameter,
  resourceMetadata,
]
