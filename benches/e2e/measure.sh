# Functions of the scripts that measure proxies by their CPU time. Sourced, in the folder of a run.

# Nanoseconds that the threads of a process have run.
cpu() { cat "/proc/$1/task"/*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

# The number below which this share of the numbers on standard input is.
quantile() { sort -n | awk -v share="$1" '{ all[NR] = $1 } END { at = 1 + share * (NR - 1); low = int(at); print all[low] + (at - low) * (all[low + (low < NR)] - all[low]) }'; }

# The middle one of the numbers on standard input.
median() { quantile 0.5; }

# CPU microseconds of each request of a load in HTTP/1.1: process, URL, options of wrk. It takes $seconds, 2 if that is not set. $pinned begins the command of the client.
load() {
    process=$1 url=$2
    shift 2
    before=$(cpu "$process")
    ${pinned:-} wrk -t1 -c32 -d"${seconds:-2}s" "$@" "$url" > wrk.log
    if grep -q 'Non-2xx\|Socket errors' wrk.log; then echo "requests to $url failed" >&2; cat wrk.log >&2; exit 1; fi
    each "$before" "$(cpu "$process")" "$(awk '/requests in/ { print $1 }' wrk.log)"
}

# The same in HTTP/2, four requests at a time on each of eight connections.
load_http2() {
    before=$(cpu "$1")
    h2load -t1 -c8 -m4 -D2 "$2" > h2load.log
    answered=$(sed -n 's/^status codes: \([0-9]*\) 2xx, 0 3xx, 0 4xx, 0 5xx$/\1/p' h2load.log)
    if [ -z "$answered" ] || ! grep -q ' 0 failed, 0 errored' h2load.log; then echo "requests to $2 failed" >&2; cat h2load.log >&2; exit 1; fi
    each "$before" "$(cpu "$1")" "$answered"
}

each() { echo "$1 $2 $3" | awk '{ if ($3 == 0) exit 1; printf "%.2f", ($2 - $1) / 1e3 / $3 }'; }
