#!/bin/sh
# What a list of a million networks and a limit for each address cost celero-proxy. Prints the CPU microseconds of a request round by round, and then the median and the first
# quartile of each policy, and the median and the quartiles of what it adds to a policy without rules within a round. What else runs only adds time: first quartiles vary least.
# Usage: run.sh CELERO-PROXY [ROUNDS]. Needs wrk and curl. A round takes six seconds.
#
# The proxy answers itself, so that a server does not hide what is measured. 65,536 clients, named by a trusted `x-forwarded-for`, send 32 requests at a time. None of them is in the
# list, but each is beside entries of it: no lookup ends early. Many short rounds: the machine changes from one second to the next, and a round compares what was measured within
# seconds. Proxies and client have a processor each, if there are two.
set -eu
proxy=$(realpath "$1")
rounds=${2:-40}
seconds=1
here=$(dirname "$(realpath "$0")")
. "$here/../measure.sh"
for program in wrk curl; do
    command -v "$program" > /dev/null || { echo "$program is not installed" >&2; exit 1; }
done
pinned= served=
if command -v taskset > /dev/null && [ "$(nproc)" -ge 2 ]; then pinned='taskset -c 1' served='taskset -c 0'; fi
work=$(mktemp -d)
cp "$here/clients.lua" "$work"
cd "$work"
started=
trap 'kill $started; wait; rm -r "$work"' EXIT

# 700,000 addresses and 300,000 networks: the addresses of clients have even third and fourth numbers.
awk 'BEGIN {
    srand(7)
    while (count < 1000000) {
        net = (11 + int(rand() * 100)) "." int(rand() * 256) "."
        even = 2 * int(rand() * 128)
        entry = count < 700000 ? net even "." (2 * int(rand() * 128) + 1) : net (even + 1) ".0/24"
        if (!(entry in seen)) { seen[entry]; count++; print entry }
    }
}' > blocked.txt

lists='lists: { blocked: { kind: addresses, files: [blocked.txt] } }'
rule_list='{ name: blocked, when: source.address in lists.blocked, deny: 403 }'
rule_limit='{ name: per client, limit: { key: "${source.address}", rate: 1000000/s, keys: 131072, onLimit: { deny: 429 } } }'
printf 'request: []\n' > none.policy
printf 'request: [{ name: trace, when: request.method == "TRACE", deny: 405 }]\n' > rule.policy
printf '%s\nrequest: [%s]\n' "$lists" "$rule_list" > list.policy
printf 'request: [%s]\n' "$rule_limit" > limit.policy
printf '%s\nrequest: [%s, %s]\n' "$lists" "$rule_list" "$rule_limit" > both.policy
names='none rule list limit both'
port() { case $1 in none) echo 9501 ;; list) echo 9502 ;; limit) echo 9503 ;; both) echo 9504 ;; rule) echo 9505 ;; esac }
for name in $names; do
    cat > "$name.yaml" <<EOF
listeners: [{ address: "127.0.0.1:$(port $name)" }]
policy: $name.policy
upstreams: [{ name: none, demo: true }]
routes: [{ answer: { status: 200, body: "hello, world\n" } }]
forwarded: { trusted: ["127.0.0.0/8"] }
threads: 1
EOF
    $served "$proxy" --config "$name.yaml" 2> "$name.log" &
    eval "process_$name=$!"
    started="$started $!"
done

# The list counts, and so does the limit, or nothing was measured.
"$proxy" --config both.yaml --check | grep -q 'list blocked: addresses, 1000000 entries'
status() { curl --silent --retry 60 --retry-connrefused --retry-delay 1 --output /dev/null --write-out '%{http_code}' -H "x-forwarded-for: $2" "http://127.0.0.1:$(port "$1")/"; }
listed=$(head -n 1 blocked.txt)
[ "$(status none "$listed") $(status list "$listed") $(status limit "$listed") $(status both "$listed") $(status both 198.51.100.2)" = '200 403 200 403 200' ]

round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    # Each round begins with another proxy.
    names="${names#* } ${names%% *}"
    for name in $names; do
        eval "process=\$process_$name"
        load "$process" "http://127.0.0.1:$(port "$name")/" -s clients.lua > "$name.took"
        echo >> "$name.took"
        cat "$name.took" >> "$name.all"
    done
    for name in rule list limit both; do echo "$(cat $name.took) $(cat none.took)" | awk '{ print $1 - $2 }' >> "$name.added"; done
    echo "none $(cat none.took) rule $(cat rule.took) list $(cat list.took) limit $(cat limit.took) both $(cat both.took)"
done

echo
echo '| policy | CPU µs a request | first quartile | added, µs | quartiles of what is added |'
echo '|---|---|---|---|---|'
for name in none rule list limit both; do
    case $name in
    none) text='without rules' ;;
    rule) text='one rule on the method' ;;
    list) text='a list of 1,000,000 networks' ;;
    limit) text='a limit for each address' ;;
    both) text='both' ;;
    esac
    added='- | -'
    if [ -s "$name.added" ]; then
        added=$(for share in 0.5 0.25 0.75; do quantile $share < "$name.added"; done | xargs printf '%.2f | %.2f to %.2f')
    fi
    echo "| $text | $(printf '%.2f' "$(median < "$name.all")") | $(printf '%.2f' "$(quantile 0.25 < "$name.all")") | $added |"
done
