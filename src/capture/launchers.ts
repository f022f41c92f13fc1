/** Rules for finding the server's name in the arguments of a program that starts other programs. */
export interface Launcher {
  /** Words that must follow the program (`pnpm dlx`, `uv tool run`); any one of the lists. */
  readonly verbs?: readonly (readonly string[])[]
  /** Options that take no value. */
  readonly flags: readonly string[]
  /** Options whose value is the next word. After an option in neither list, nothing is certain. */
  readonly valued: readonly string[]
  /** Kind of name in the first word that is no option. `module` is a script without its own package.json. */
  readonly names: 'package' | 'script' | 'module' | 'image'
  /** An option whose value is the name itself (`python -m server`). */
  readonly nameOption?: string
}

const words = (text: string): string[] => text.split(/\s+/)

const npx: Launcher = {
  names: 'package',
  flags: words(
    '-y --yes -q --quiet --silent --no-install --prefer-offline --prefer-online --offline --ignore-existing --bun --verbose',
  ),
  valued: words('-p --package --registry --cache --userconfig --prefix --workspace --loglevel --node-arg'),
}

const node: Launcher = {
  names: 'script',
  flags: words(
    `--enable-source-maps --no-warnings --no-deprecation --watch --experimental-strip-types --smol --inspect
     --inspect-brk --trace-warnings --expose-gc --preserve-symlinks --use-system-ca`,
  ),
  valued: words('-r --require --import --loader --experimental-loader -C --conditions --tsconfig'),
}

const deno: Launcher = {
  names: 'script',
  verbs: [['run']],
  flags: words(
    `-A --allow-all --allow-net --allow-read --allow-env --allow-run --allow-write --allow-sys --allow-ffi
     --allow-import -N -R -E -W -S -q --quiet --no-check --no-lock --no-prompt --unstable --cached-only`,
  ),
  valued: words('-c --config --import-map --location --seed'),
}

const python: Launcher = {
  names: 'module',
  flags: words('-u -B -E -I -O -OO -s -S -q -v -P'),
  valued: words('-W -X'),
  nameOption: '-m',
}

const uvFlags = words(
  `-q --quiet -v --verbose --offline --isolated --refresh --frozen --locked --no-sync --no-cache --no-config
   --no-project --no-progress --native-tls --system-certs --no-dev --all-extras -n`,
)
const uvValued = words(
  `--directory --project --from --with --with-editable --with-requirements -w -p --python --index --index-url
   --default-index --extra-index-url --env-file --extra --group --config-file --cache-dir --refresh-package -i`,
)
const uvx: Launcher = { names: 'package', flags: uvFlags, valued: uvValued }

const container: Launcher = {
  names: 'image',
  verbs: [['run'], ['container', 'run']],
  flags: words(
    '-i -t -it -ti -d --rm --init --interactive --tty --detach --privileged --read-only --no-healthcheck -P --publish-all -q --quiet',
  ),
  valued: words(
    `-e --env --env-file -v --volume --mount --name -p --publish --network --net -u --user -w --workdir
     --entrypoint --platform --pull --add-host --gpus -m --memory --cpus -l --label --label-file -h --hostname
     --restart --shm-size --security-opt --cap-add --cap-drop --device --dns --ulimit --tmpfs --log-driver
     --log-opt --pids-limit --runtime --ipc --pid --userns --volumes-from --cidfile --expose --link -c --context
     -H --host --config`,
  ),
}

/** By the name of the program, without version or extension. */
export const launchers: Readonly<Record<string, readonly Launcher[]>> = {
  npx: [npx],
  bunx: [npx],
  pnpx: [npx],
  npm: [{ ...npx, verbs: [['exec'], ['x']] }],
  pnpm: [{ ...npx, verbs: [['dlx'], ['exec']] }],
  yarn: [{ ...npx, verbs: [['dlx']] }],
  node: [node],
  nodejs: [node],
  tsx: [{ ...node, verbs: [['watch'], []] }],
  'ts-node': [node],
  bun: [
    { ...npx, verbs: [['x']] },
    { ...node, verbs: [['run'], []] },
  ],
  deno: [deno],
  uvx: [uvx],
  uv: [
    { ...uvx, verbs: [['tool', 'run']] },
    { ...uvx, names: 'module', verbs: [['run']], nameOption: '-m' },
  ],
  pipx: [
    { names: 'package', verbs: [['run']], flags: words('-q --quiet'), valued: words('--spec --python') },
  ],
  python: [python],
  python3: [python],
  docker: [container],
  podman: [container],
}
