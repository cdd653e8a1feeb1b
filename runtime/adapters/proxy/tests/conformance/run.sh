#!/bin/sh
# Checks the protocols of celero-proxy with other people's tools: h2spec (HTTP/2 and HPACK) with TLS and without, where bodies are passed on and where rules read them, and testssl.sh.
# h2spec looks for errors in requests that are still being read, so the proxy does not answer them itself.
# Prints every finding, and exits with 1 if one is not in the table of docs/security.md ("Protocols as other tools see them"). Takes about three minutes, most of them testssl's.
# Usage: run.sh CELERO-PROXY. Needs curl and openssl. h2spec (also: the program H2SPEC) and testssl (Debian's testssl.sh) are left out, with a line that says so, if they are absent.
set -eu
proxy=$(realpath "$1")
h2spec=${H2SPEC:-$(command -v h2spec || true)}
testssl=$(command -v testssl || command -v testssl.sh || true)
work=$(mktemp -d)
cd "$work"
started=
trap 'kill $started 2> /dev/null; wait; rm -r "$work"' EXIT
new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
# shellcheck disable=SC2086 # several options
{
    openssl req -x509 $new -days 90 -subj '/CN=Example CA' -keyout ca.key -out ca.pem
    openssl req -new $new -subj /CN=localhost -keyout server.key -out server.csr
    printf 'subjectAltName=DNS:localhost\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n' > names
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 90 -extfile names -out server.pem
} 2> openssl.log

cat > policy.yaml <<'E2'
requestBody:
  - { name: body, when: 'request.path.startsWith("/body") && string(request.body).contains("forbidden")', deny: 403 }
response:
  - { name: hsts, setHeaders: { strict-transport-security: max-age=31536000 } }
E2
# Without rules on bodies, a body is passed on while it arrives.
cat > plain-policy.yaml <<'E2'
response:
  - { name: hsts, setHeaders: { strict-transport-security: max-age=31536000 } }
E2
start() { # name, port with TLS, port without, policy
    cat > "$1.yaml" <<E2
listeners:
  - { address: "127.0.0.1:$2", tls: { certificates: [{ chain: server.pem, key: server.key }] } }
  - { address: "127.0.0.1:$3", h2c: true }
policy: $4
upstreams: [{ name: demo, demo: true }]
routes: [{ upstream: demo }]
E2
    "$proxy" --config "$1.yaml" 2> "$1.log" &
    started="$started $!"
    for port in "https://localhost:$2" "http://localhost:$3"; do
        curl --silent --fail --cacert ca.pem --retry 30 --retry-connrefused --retry-delay 1 --output /dev/null "$port/x" || { cat "$1.log"; exit 1; }
    done
}
start plain 9611 9612 plain-policy.yaml
start bodies 9621 9622 policy.yaml

wrong=0
# The findings of a check, one a line: unknown ones count as wrong.
judge() { # name of the check, file of findings, pattern of known ones
    while read -r finding; do
        if echo "$finding" | grep -qE "$3"; then
            echo "known: $1: $finding"
        else
            echo "WRONG: $1: $finding"
            wrong=1
        fi
    done < "$2"
}

if [ -z "$h2spec" ]; then
    echo 'left out: there is no h2spec'
else
    for case in '9611 /x --tls --insecure' '9612 /x' '9621 /body --tls --insecure' '9622 /body'; do
        # shellcheck disable=SC2086 # words
        set -- $case
        port=$1 path=$2
        shift 2
        "$h2spec" --host localhost --port "$port" --path "$path" --timeout 5 --strict "$@" --junit-report report.xml > h2spec.log || true
        grep -E '^[0-9]+ tests' h2spec.log | sed "s|^|h2spec, port $port, $path: |"
        # <testcase package="http2/3.5" classname="Sends ..."><error>
        tr -d '\n' < report.xml | sed 's/<testcase /\n&/g' | sed -n '/<\(error\|failure\)>/s/.*package="\([^"]*\)" classname="\([^"]*\)".*/\1: \2/p' > findings
        case $* in '') known='^http2/3\.5: Sends invalid connection preface$' ;; *) known='^$' ;; esac
        # Nothing that failed is overlooked.
        grep -qE "^[0-9]+ tests, .* $(wc -l < findings) failed" h2spec.log || { cat h2spec.log; echo 'its result and its report differ' >> findings; }
        judge "h2spec, port $port, $path" findings "$known"
    done
fi

if [ -z "$testssl" ]; then
    echo 'left out: there is no testssl'
else
    "$testssl" --quiet --color 0 --warnings batch --add-ca ca.pem --openssl-timeout 5 --jsonfile testssl.json https://localhost:9611 > testssl.log || true
    # "id" : .. "severity" : .. "finding" : .., each in a line of its own.
    awk -F'"' '$2 == "id" { id = $4 } $2 == "severity" { severity = $4 } $2 == "finding" && severity ~ /LOW|MEDIUM|HIGH|CRITICAL|WARN|FATAL/ { print id ": " severity ": " $4 }' testssl.json > findings
    grep -q '"TLS1_3"' testssl.json || echo 'no result' >> findings
    judge testssl findings '^(cipher_order|cert_revocation|DNS_CAArecord|security_headers): '
fi
exit $wrong
