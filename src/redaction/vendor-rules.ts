/**
 * Tokens that vendors designed to be recognised: a unique prefix and a run of characters. Shapes are those of the
 * vendors' public documentation.
 */

/**
 * The characters after a prefix: `word` letters and digits, `name` also `_` and `-`, `dotted` also `.`, `base64` with
 * `+/=`, `token` all of these and `~`.
 */
export type RunKind = 'word' | 'name' | 'dotted' | 'base64' | 'token'

export interface VendorRule {
  readonly rule: string
  readonly prefix: string
  readonly run: RunKind
  /** Minimum and maximum number of characters after the prefix; longer runs are something else. */
  readonly least: number
  readonly most: number
  /** Pattern for the first 80 characters after the prefix. */
  readonly shape?: RegExp
  /** See Literal: for prefixes made of frequent pairs. */
  readonly before?: string
  readonly after?: string
}

type Row = readonly [
  rule: string,
  prefixes: string,
  run: RunKind,
  least: number,
  most?: number,
  shape?: RegExp,
]

const hex = /^[0-9a-fA-F]+$/
/** Not joined words: a digit, or letters of both cases. */
const mixed = /[0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const rows: readonly Row[] = [
  ['1password-token', 'ops_eyJ', 'token', 16],
  [
    '1password-key',
    'A3-',
    'name',
    29,
    40,
    /^[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}/,
  ],
  ['adobe-secret', 'p8e-', 'name', 32],
  ['age-key', 'AGE-SECRET-KEY-1', 'word', 40],
  ['alibaba-key', 'LTAI', 'word', 12, 30, mixed],
  ['anthropic-key', 'sk-ant-', 'name', 20],
  ['apify-token', 'apify_api_', 'word', 20],
  ['artifactory-token', 'AKCp cmVmdGtu', 'word', 50],
  ['atlassian-token', 'ATATT3x ATCTT3x', 'token', 40],
  ['bitbucket-token', 'ATBB', 'word', 24, 64, mixed],
  ['aws-bedrock-key', 'ABSK', 'base64', 80, 400, mixed],
  ['aws-bedrock-key', 'bedrock-api-key-', 'token', 20],
  ['brave-key', 'BSA', 'name', 27, 40, /[0-9].*[0-9]/],
  ['buildkite-token', 'bkua_ bkpt_ bkct_', 'word', 30],
  ['circleci-token', 'CCIPAT_ CCIPRJ_', 'name', 30],
  ['clickhouse-key', '4b1d', 'word', 38, 38],
  ['clojars-token', 'CLOJARS_', 'word', 40],
  ['cloudflare-origin-key', 'v1.0-', 'name', 100],
  ['contentful-token', 'CFPAT-', 'name', 40],
  ['crates-token', 'cio', 'word', 32, 32, mixed],
  ['databricks-token', 'dapi', 'name', 32, 36, /^[0-9a-f]{32}(?:-\d)?$/],
  ['digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 'word', 40],
  ['docker-token', 'dckr_pat_ dckr_oat_', 'name', 20],
  ['doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', 'dotted', 30],
  ['dropbox-token', 'sl.', 'name', 60, Infinity, mixed],
  ['duffel-token', 'duffel_test_ duffel_live_', 'token', 30],
  ['dynatrace-token', 'dt0c01. dt0s01. dt0s02. dt0s16.', 'dotted', 60],
  ['e2b-key', 'e2b_', 'word', 30],
  ['easypost-key', 'EZAK EZTK', 'word', 50],
  ['facebook-token', 'EAA', 'word', 20, 500, /^(?=[B-Z]).{0,60}?(?:[0-9]|[a-z][A-Z])/],
  ['figma-token', 'figd_ figu_ figo_', 'name', 30],
  ['firecrawl-key', 'fc-', 'word', 32, 32, hex],
  ['fireworks-key', 'fw_', 'word', 20, 40, mixed],
  ['flutterwave-key', 'FLWSECK_TEST', 'name', 12, Infinity, mixed],
  ['flutterwave-key', 'FLWPUBK_TEST- FLWSECK- FLWPUBK-', 'name', 10, Infinity, mixed],
  ['fly-token', 'fo1_ fm1a_ fm1r_ fm2_', 'token', 30],
  ['frameio-token', 'fio-u-', 'token', 40],
  ['freemius-key', 'sk_', 'token', 29, 64, /^(?=.{0,60}[0-9])(?=.{0,60}[A-Za-z])[^_]{29}/],
  ['gcp-key', 'AIza', 'name', 30, 45],
  ['google-oauth-secret', 'GOCSPX-', 'name', 20],
  ['google-oauth-token', 'ya29.', 'dotted', 20],
  ['google-oauth-token', '1//0', 'name', 40, 200, mixed],
  ['gitlab-token', 'glpat- glptt- glcbt- gldt- glft- glffct- glimt- gloas- glsoat- glwt-', 'dotted', 16],
  ['gitlab-token', 'glagent- glrt- glrtr-', 'dotted', 16, Infinity, mixed],
  ['gitlab-token', 'GR1348941', 'name', 16],
  ['gitlab-token', '_gitlab_session=', 'name', 20],
  ['grafana-token', 'eyJrIjoi', 'base64', 40],
  ['grafana-token', 'glc_ glsa_', 'token', 32],
  ['groq-key', 'gsk_', 'word', 40],
  ['heroku-key', 'HRKU-', 'name', 30],
  ['honeycomb-key', 'hcaik_ hcxik_ hcxmk_ hcamk_', 'word', 30],
  ['huggingface-token', 'hf_ api_org_', 'word', 30],
  ['infracost-key', 'ico-', 'word', 32],
  ['intra42-secret', 's-s4t2ud- s-s4t2af-', 'word', 40],
  ['jwt-base64', 'ZXlK', 'base64', 60],
  ['langfuse-key', 'sk-lf-', 'name', 30],
  ['langsmith-key', 'lsv2_pt_ lsv2_sk_', 'name', 30],
  ['launchdarkly-key', 'sdk- mob- api-', 'name', 36, 36, uuid],
  ['linear-key', 'lin_api_ lin_oauth_', 'word', 30],
  ['lob-key', 'live_', 'word', 35, 35, /^(?:[0-9a-f]+$|pub_)/],
  ['mailgun-key', 'key-', 'word', 32, 32, hex],
  ['mapbox-token', 'sk.eyJ', 'dotted', 60],
  ['neon-key', 'napi_', 'word', 40],
  ['netlify-token', 'nfp_ nfc_ nfo_', 'word', 30],
  ['newrelic-key', 'NRAK- NRIQ- NRJS- NRII- NRSP- NRRA- NRBR-', 'name', 19],
  ['notion-token', 'ntn_ secret_', 'word', 40],
  ['npm-token', 'npm_', 'word', 36],
  ['nuget-key', 'oy2', 'word', 43, 43],
  ['nvidia-key', 'nvapi-', 'name', 30],
  ['octopus-key', 'API-', 'word', 25, 40, /^[A-Z0-9]+$/],
  ['openshift-token', 'sha256~', 'name', 40],
  ['perplexity-key', 'pplx-', 'word', 32],
  ['pinecone-key', 'pcsk_', 'name', 40],
  ['plaid-token', 'access-sandbox- access-development- access-production-', 'name', 36, 36, uuid],
  ['planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_otkn_', 'dotted', 30],
  ['polar-token', 'polar_oat_ polar_pat_', 'word', 30],
  ['posthog-key', 'phx_', 'word', 40],
  ['postman-key', 'PMAK-', 'name', 50],
  ['prefect-key', 'pnu_ pnb_', 'word', 30],
  ['pulumi-token', 'pul-', 'word', 40],
  ['pypi-token', 'pypi-AgE', 'name', 40],
  ['readme-key', 'rdme_', 'word', 50],
  ['render-key', 'rnd_', 'word', 28, Infinity, mixed],
  ['replicate-token', 'r8_', 'word', 35],
  ['resend-key', 're_', 'name', 30, 40, /^[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}$/],
  ['rubygems-key', 'rubygems_', 'word', 40],
  ['scalingo-token', 'tk-us-', 'name', 40],
  ['sendgrid-key', 'SG.', 'dotted', 50],
  ['sendinblue-key', 'xkeysib- xsmtpsib-', 'name', 60],
  ['sentry-token', 'sntrys_ sntryu_ sntrya_ sntryi_', 'token', 40],
  ['settlemint-token', 'sm_pat_ sm_aat_ sm_sat_', 'word', 16],
  ['shippo-token', 'shippo_live_ shippo_test_', 'word', 30],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_ shptka_ shpua_', 'word', 30],
  ['slack-token', 'xoxe.xoxp- xoxe.xoxb-', 'name', 30],
  ['sonar-token', 'squ_ sqp_ sqa_', 'word', 40],
  ['sourcegraph-token', 'sgp_', 'name', 40, Infinity, mixed],
  ['sourcegraph-token', 'slk_', 'word', 64, 64, hex],
  ['square-token', 'EAAA', 'name', 22, 70, mixed],
  ['square-token', 'sq0atp- sq0csp- sq0idp-', 'name', 20],
  ['supabase-key', 'sbp_ sb_secret_', 'name', 30],
  ['tailscale-key', 'tskey-', 'name', 20],
  ['tavily-key', 'tvly-', 'name', 20, Infinity, mixed],
  ['telegram-token', ':AA', 'name', 32, 33],
  ['twilio-key', 'SK', 'word', 32, 32, hex],
  ['typeform-token', 'tfp_', 'name', 40],
  ['vault-token', 'hvs. hvb. hvr.', 'name', 24],
  ['vercel-token', 'vcp_ vci_ vca_ vcr_ vck_', 'name', 20, 80, mixed],
  ['wandb-key', 'wandb_v1_', 'name', 40],
  ['xai-key', 'xai-', 'word', 50],
  ['yandex-key', 'AQVN y0_ t1.9eu', 'name', 35],
  ['zuplo-key', 'zpka_', 'name', 30],
]

const word = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** May precede a token, also as the end of an escape: no base64 letters except those of `\n`, `\r` and `\t`. */
const joint = ` "'\`=:,;()[]{}<>|&?#@!$^*~%.\\-_\n\t\rnrt`
const edges = new Map<string, Pick<VendorRule, 'before' | 'after'>>([
  ['EAA', { before: joint }],
  ['EAAA', { before: joint }],
  ['SK', { before: joint }],
  [':AA', { before: '0123456789' }],
  ['re_', { after: word }],
])

export const vendorRules: readonly VendorRule[] = rows.flatMap(
  ([rule, prefixes, run, least, most = Infinity, shape]) =>
    prefixes.split(' ').map((prefix) => ({
      rule,
      prefix,
      run,
      least,
      most,
      ...(shape !== undefined && { shape }),
      ...edges.get(prefix),
    })),
)
