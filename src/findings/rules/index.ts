import type { Rule } from '../finding.js'
import { removedBatch } from './protocol/batch.js'
import { cancelledAnswered } from './protocol/cancelled-answered.js'
import { cancelledInitialize } from './protocol/cancelled-initialize.js'
import { capabilities } from './protocol/capability.js'
import { deprecated } from './protocol/deprecated.js'
import { direction } from './protocol/direction.js'
import { eventId } from './protocol/event-id.js'
import { ids } from './protocol/reused-id.js'
import { invalidMessage } from './protocol/invalid-message.js'
import { longLine } from './protocol/long-line.js'
import { lostSession } from './protocol/lost-session.js'
import { mirroredHeaders } from './protocol/mirrored-headers.js'
import { missingMeta } from './protocol/missing-meta.js'
import { order } from './protocol/order.js'
import { progress } from './protocol/progress.js'
import { reusedSession } from './protocol/reused-session.js'
import { requestState } from './protocol/request-state.js'
import { officialSchema } from './protocol/schema.js'
import { secondResponse } from './protocol/second-response.js'
import { shortSession } from './protocol/short-session.js'
import { strayOutput } from './protocol/stray-output.js'
import { strayResponse } from './protocol/stray-response.js'
import { unanswered } from './protocol/unanswered.js'
import { versionHeader } from './protocol/version-header.js'
import { annotations } from './safety/annotation.js'
import { riskyArgument } from './safety/argument.js'
import { changedDefinition } from './safety/changed-definition.js'
import { agentDirective } from './safety/agent-directive.js'
import { elicitSecret } from './safety/elicited-secret.js'
import { executedFlow } from './safety/executed-flow.js'
import { hiddenText } from './safety/hidden-text.js'
import { exfiltratingLink } from './safety/image-link.js'
import { resourceMetadata } from './safety/oauth-metadata.js'
import { pkce } from './safety/oauth-pkce.js'
import { resourceParameter } from './safety/oauth-resource.js'
import { plainHttp } from './safety/plain-http.js'
import { secretFlow } from './safety/secret-flow.js'
import { sessionInUrl } from './safety/session-in-url.js'
import { shadowing } from './safety/shadowing.js'
import { tokenAudience } from './safety/token-audience.js'
import { tokenInUrl } from './safety/token-in-url.js'
import { tokenPassthrough } from './safety/token-passthrough.js'
import { unpinnedLaunch } from './safety/unpinned-launch.js'
import { elicitationAnswer } from './schemas/elicitation.js'
import { inputSchema } from './schemas/input.js'
import { nameLength } from './schemas/name.js'
import { outputSchema } from './schemas/output.js'
import { schemaPortable } from './schemas/portable.js'
import { schemaRoot } from './schemas/root.js'

/** All rules without settings, by pack. A new one: a file, a line here, a test, a section of docs/findings.md. */
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
