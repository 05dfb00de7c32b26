# What the scripts of this folder share: a browser, packages, servers that end with the script. Sourced from the root of the
# repository, with `program` set to the program to check, or empty.

tools=$PWD/target/browser
place=$(mktemp -d)
servers=()

finish() {
    local code=$?
    for server in "${servers[@]}"; do
        if kill -TERM "$server" 2> /dev/null; then
            wait "$server" || code=$?
        fi
    done
    if [ "$code" != 0 ]; then
        grep -v ' info answered ' "$place"/*.err | tail -n 20 >&2 || true
    fi
    rm -rf "$place"
    exit "$code"
}
trap finish EXIT

if [ -z "$program" ]; then
    cargo build --release --quiet
    program=target/release/hornbook
fi
program=$(realpath "$program")

command -v chromium > /dev/null || tests/install-packages chromium fonts-liberation

# The packages that a folder lists, in exactly the versions of its lock file; scripts find them from $place.
install_packages() {
    local list=$1 into=$2 wanted
    wanted=$(cat "$list/package.json" "$list/package-lock.json" | sha256sum)
    if [ "$(cat "$into/installed" 2> /dev/null || true)" != "$wanted" ]; then
        rm -rf "$into"
        mkdir -p "$into"
        cp "$list/package.json" "$list/package-lock.json" "$into/"
        PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --prefix "$into" --silent --ignore-scripts --no-audit --no-fund
        printf '%s\n' "$wanted" > "$into/installed"
    fi
    ln -sfn "$into/node_modules" "$place/node_modules"
}

# A server of its own on a free port, with these settings; its address is then in $address. It goes before other programs
# where the system allows it: on a busy machine it would rightly answer that it is overloaded.
start_server() {
    local name=$1
    shift
    # There before the server is: on a busy machine it opens them after they are first read.
    touch "$place/$name.out" "$place/$name.err"
    env HORNBOOK_DATA_DIR="$place/$name" HORNBOOK_SERVER_LISTEN=127.0.0.1:0 HORNBOOK_LEDGER_DURABILITY=window \
        HORNBOOK_SERVER_OPEN_PER_MINUTE=0 "$@" nice -n -15 "$program" > "$place/$name.out" 2> "$place/$name.err" &
    servers+=($!)
    for _ in $(seq 300); do
        address=$(sed -n 's/^listening on //p' "$place/$name.out")
        if [ -n "$address" ] && curl --silent --fail --max-time 5 --output /dev/null "$address/readyz"; then
            return
        fi
        kill -0 "${servers[-1]}" || return 1
        sleep 0.2
    done
    return 1
}
