#!/bin/sh
# celero-proxy beside nginx: TLS or none, twenty rules, proxying. Prints the CPU time of a request, in microseconds, round by round, and the ratio.
# Usage: run.sh CELERO-PROXY [ROUNDS]. Needs nginx, wrk and openssl.
set -eu
proxy=$(realpath "$1")
rounds=${2:-7}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
cp "$here"/*.conf "$here"/*.yaml "$work"
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out chain.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2> openssl.log
nginx -p "$work" -c server.conf -g 'daemon off;' 2> server.log &
server=$!
nginx -p "$work" -c nginx.conf -g 'daemon off;' 2> nginx.log &
nginx=$!
"$proxy" --config proxy.yaml 2> celero.log &
celero=$!
trap 'kill $server $nginx $celero; rm -r "$work"' EXIT
sleep 2

# Clock ticks that a process has used.
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

# CPU microseconds of each request of a load: process, URL.
load() {
    before=$(ticks "$1")
    wrk -t1 -c32 -d2s "$2" > wrk.log
    if grep -q 'Non-2xx\|Socket errors' wrk.log; then echo "requests to $2 failed" >&2; exit 1; fi
    requests=$(awk '/requests in/ { print $1 }' wrk.log)
    echo "$before $(ticks "$1") $requests $(getconf CLK_TCK)" | awk '{ printf "%.1f", ($2 - $1) / $4 / $3 * 1e6 }'
}

# Works on the requests of nginx.
worker=$(pgrep -P "$nginx" | head -n 1)
for scheme in https http; do
    case $scheme in https) last=1 ;; *) last=2 ;; esac
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        # In alternating order.
        if [ $((round % 2)) -eq 0 ]; then
            other=$(load "$worker" "$scheme://localhost:930$last/a/b?c=d")
            own=$(load "$celero" "$scheme://localhost:920$last/a/b?c=d")
        else
            own=$(load "$celero" "$scheme://localhost:920$last/a/b?c=d")
            other=$(load "$worker" "$scheme://localhost:930$last/a/b?c=d")
        fi
        echo "$scheme celero-proxy $own nginx $other ratio $(echo "$own $other" | awk '{ printf "%.2f", $1 / $2 }')"
    done
done
