#!/bin/sh
# celero-proxy beside nginx and Envoy: the same job with TLS in HTTP/1.1, with TLS in HTTP/2, and without TLS. Prints the CPU microseconds of a request round by round,
# and then the table of docs/e2e.md: medians, and the median over the rounds of the ratio within a round.
# Usage: run.sh CELERO-PROXY [ROUNDS]. Needs nginx, wrk, h2load (Debian's nghttp2-client), curl and openssl. Envoy is the program ENVOY, or `envoy`; without it its column is missing.
set -eu
proxy=$(realpath "$1")
rounds=${2:-9}
here=$(dirname "$(realpath "$0")")
. "$here/../measure.sh"
for program in nginx wrk h2load curl openssl; do
    command -v "$program" > /dev/null || { echo "$program is not installed" >&2; exit 1; }
done
envoy=${ENVOY:-$(command -v envoy || true)}
work=$(mktemp -d)
cp "$here"/*.conf "$here"/*.yaml "$work"
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out chain.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2> openssl.log
started=
trap 'kill $started; wait; rm -r "$work"' EXIT
nginx -p "$work" -c server.conf -g 'daemon off;' 2> server.log &
started="$started $!"
nginx -p "$work" -c nginx.conf -g 'daemon off;' 2> nginx.log &
nginx=$!
started="$started $nginx"
"$proxy" --config proxy.yaml 2> celero.log &
celero=$!
started="$started $celero"
names='celero nginx'
if [ -n "$envoy" ]; then
    "$envoy" --concurrency 1 --log-level error --disable-hot-restart -c envoy.yaml 2> envoy.log &
    envoy=$!
    started="$started $envoy"
    names='celero nginx envoy'
else
    echo 'left out: there is no envoy' >&2
fi

# The first digits of the ports of a proxy, and the process that works on its requests.
ports() { case $1 in celero) echo 92 ;; nginx) echo 93 ;; envoy) echo 94 ;; esac }
worker() { case $1 in celero) echo "$celero" ;; nginx) pgrep -P "$nginx" | head -n 1 ;; envoy) echo "$envoy" ;; esac }
url() { case $2 in plain) echo "http://localhost:$(ports "$1")02" ;; *) echo "https://localhost:$(ports "$1")01" ;; esac }

# What a proxy answers, and what its server sees, must be the same for all of them.
status() { curl --silent --insecure --path-as-is --output /dev/null --write-out '%{http_version} %{http_code}\n' "$@"; }
# Envoy names its own address as the client if that is 127.0.0.1.
answers() {
    for http in --http1.1 --http2; do
        status $http "$1/a/b?c=d"
        status $http "$1/closed7/x"
        status $http "$1/x/..//closed0/x"
        status $http -A 'a bad-bot-3' "$1/"
    done
    curl --silent --insecure -H 'X-Real-IP: 192.0.2.1' "$1/seen" | sed -e 's/id [0-9a-f-]\{32,36\}$/id/' -e 's/9[234]0[12]/PORT/g' -e 's/^for [0-9.]*,/for CLIENT,/'
}
for name in $names; do
    for kind in tls plain; do
        url=$(url "$name" $kind)
        curl --silent --insecure --retry 30 --retry-connrefused --retry-delay 1 --output /dev/null "$url/"
        answers "$url" > "$name.$kind"
        if ! cmp "celero.$kind" "$name.$kind"; then diff "celero.$kind" "$name.$kind" >&2; exit 1; fi
    done
done
grep -qx '2 200' celero.tls && grep -qx '1.1 403' celero.tls && grep -q '^for CLIENT, proto https, host localhost:PORT, port PORT, address 127.0.0.1, id$' celero.tls || {
    cat celero.tls >&2
    exit 1
}

for kind in tls http2 plain; do
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        # Each round begins with another proxy.
        names="${names#* } ${names%% *}"
        for name in $names; do
            case $kind in
            http2) load_http2 "$(worker "$name")" "$(url "$name" tls)/a/b?c=d" > "$name.took" ;;
            *) load "$(worker "$name")" "$(url "$name" $kind)/a/b?c=d" > "$name.took" ;;
            esac
            echo >> "$name.took"
            cat "$name.took" >> "$name.$kind.all"
        done
        for name in nginx envoy; do
            if [ -s "$name.took" ]; then echo "$(cat celero.took) $(cat $name.took)" | awk '{ print $1 / $2 }' >> "$name.$kind.ratios"; fi
        done
        echo "$kind $(for name in celero nginx envoy; do if [ -s $name.took ]; then printf '%s %s ' $name "$(cat $name.took)"; fi; done)"
    done
done

of() { if [ -s "$1" ]; then printf "%.$2f" "$(median < "$1")"; else printf '-'; fi }
echo
echo '| | celero-proxy, CPU µs a request | nginx | ratio to nginx | Envoy | ratio to Envoy |'
echo '|---|---|---|---|---|---|'
for kind in tls http2 plain; do
    case $kind in tls) text='HTTP/1.1 with TLS' ;; http2) text='HTTP/2 with TLS' ;; plain) text='HTTP/1.1 without TLS' ;; esac
    echo "| $text | $(of celero.$kind.all 1) | $(of nginx.$kind.all 1) | $(of nginx.$kind.ratios 2) | $(of envoy.$kind.all 1) | $(of envoy.$kind.ratios 2) |"
done
