//! What authors write who know another language or proxy, and the help that each gets: one table.
#![cfg(feature = "http")]
#![expect(clippy::string_slice, reason = "tests")]

use celero::http::{Request, Source};
use celero::{Context, Diagnostic, Engine, Env, Tier};
use std::time::SystemTime;

/// What the rules of a proxy read.
#[derive(Context)]
struct Data<'a> {
    #[context(nested)]
    request: Request<'a>,
    #[context(nested)]
    source: Source,
    #[context(name = "request.startTime")]
    started: SystemTime,
    #[context(nested, name = "source.tls")]
    tls: Tls,
}

/// What the host knows of the client's TLS connection, by the names that policies have.
#[derive(Context)]
struct Tls {
    version: Option<String>,
    sni: Option<String>,
    subject: Option<String>,
    sans: Option<Vec<String>>,
    fingerprint: Option<String>,
}

/// What a help suggests, in its last backquotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suggested {
    /// A rule, or a part of one that stands alone.
    Rule,
    /// What stands in the place of what the error points at.
    Part,
    /// Nothing that is complete.
    Form,
}

use Suggested::{Form, Part, Rule};

/// A rule as it is written by mistake, its only help, and what that suggests.
const ROWS: &[(&str, &str, Suggested)] = &[
    // Operators of other languages.
    (r#"request.method = "GET""#, "did you mean `==`?", Part),
    (r#"request.method === "GET""#, "did you mean `==`?", Part),
    (r#"request.method !== "GET""#, "did you mean `!=`?", Part),
    (r#"request.method <> "GET""#, "did you mean `!=`?", Part),
    (r#"request.method eq "GET""#, "did you mean `==`?", Part),
    (r#"request.method ne "GET""#, "did you mean `!=`?", Part),
    (r#"request.method is "GET""#, "did you mean `==`?", Part),
    (r#"request.method equals "GET""#, "did you mean `==`?", Part),
    (r#"size(request.path) gt 3"#, "did you mean `>`?", Part),
    (r#"size(request.path) => 3"#, "did you mean `>=`?", Part),
    (r#"size(request.path) =< 3"#, "did you mean `<=`?", Part),
    (r#"request.method == "GET" and request.path == "/""#, "did you mean `&&`?", Part),
    (r#"request.method == "GET" OR request.path == "/""#, "did you mean `||`?", Part),
    (r#"request.method == "GET" & request.path == "/""#, "did you mean `&&`?", Part),
    (r#"request.method == "GET" | request.path == "/""#, "did you mean `||`?", Part),
    (r#"not request.path == "/""#, r#"write `!(request.path == "/")`"#, Rule),
    (r#"not request.path.startsWith("/a")"#, r#"write `!request.path.startsWith("/a")`"#, Rule),
    (r#"not(request.path == "/")"#, "did you mean `!`?", Part),
    (r#"request.method not in ["GET"]"#, r#"write `!(request.method in ["GET"])`"#, Rule),
    (r#"request.path ~ "^/a""#, r#"write `request.path.matches("^/a")`"#, Rule),
    (r#"request.path =~ "^/a""#, r#"write `request.path.matches("^/a")`"#, Rule),
    (r#"request.path ==~ "^/a""#, r#"write `request.path.matches("^/a")`"#, Rule),
    (r#"request.path ~* "^/a""#, r#"write `request.path.matches("(?i)^/a")`"#, Rule),
    (r#"request.path !~ "^/a""#, r#"write `!request.path.matches("^/a")`"#, Rule),
    (r#"request.path !~* "^/a""#, r#"write `!request.path.matches("(?i)^/a")`"#, Rule),
    (r#"request.path matches "^/a""#, r#"write `request.path.matches("^/a")`"#, Rule),
    (r#"request.path contains "a""#, r#"write `request.path.contains("a")`"#, Rule),
    (r#"request.path starts_with "/a""#, r#"write `request.path.startsWith("/a")`"#, Rule),
    (r#"request.host wildcard "*.example""#, r#"write `request.host.wildcard("*.example")`"#, Rule),
    (r#"request.path like "/a%""#, r#"write `request.path.strictWildcard("/a*")`"#, Rule),
    (r#"request.path + "b" contains "a""#, r#"write `(request.path + "b").contains("a")`"#, Rule),
    (r#"size(request.path) between 9 and 17"#, "write `size(request.path) >= 9 && size(request.path) <= 17`", Rule),
    (
        r#"request.method == "GET" xor request.path == "/""#,
        r#"write `(request.method == "GET") != (request.path == "/")`"#,
        Rule,
    ),
    (
        r#"request.path != "/a" unless request.method == "GET""#,
        r#"write `request.path != "/a" && !(request.method == "GET")`"#,
        Rule,
    ),
    (r#"1 < size(request.path) < 10"#, "write `1 < size(request.path) && size(request.path) < 10`", Rule),
    (r#"request.headers["x-count"] > 5"#, r#"write `int(request.headers["x-count"]) > 5`"#, Rule),
    (r#"1.5 <= request.headers["x-rate"]"#, r#"write `1.5 <= double(request.headers["x-rate"])`"#, Rule),
    (r#"request.headers["x-count"] == 5"#, r#"write `request.headers["x-count"] == "5"`"#, Rule),
    (r#"request.headers["x-debug"] == true"#, r#"write `request.headers["x-debug"] == "true"`"#, Rule),
    (r#"size(request.path) == "3""#, "write `size(request.path) == 3`", Rule),
    (r#"request.uri.query("page") == "1""#, r#"write `"1" in request.uri.query("page")`"#, Rule),
    (r#"request.uri.query("page") != "1""#, r#"write `!("1" in request.uri.query("page"))`"#, Rule),
    (r#"request.path.slice(0, 3) == "/ab""#, "write `request.path.substring(0, 3)`", Rule),
    (r#"["GET", "HEAD"].contains(request.method)"#, r#"write `request.method in ["GET", "HEAD"]`"#, Rule),
    (r#"request.headers.exists("x-team")"#, r#"write `"x-team" in request.headers`"#, Rule),
    (r#"has(request.headers["x-team"])"#, r#"write `"x-team" in request.headers`"#, Rule),
    (r#"request.path.startsWith "/a""#, r#"write `request.path.startsWith("/a")`"#, Rule),
    (r#"size(request.path) > 1_000"#, "a number has digits only: `1000`", Part),
    (r#"request.path == `/a`"#, r#"a text is in quotes: `"/a"`"#, Part),
    (r#"let x = 5; x > 3"#, "a value gets a name by `cel.bind(name, value, expression)`", Form),
    (r#"request.query ?? """#, "`default(a, b)` is `b` where reading `a` fails", Form),
    // Conditions.
    (r#"request.path == "/a" || "/b""#, r#"write `request.path in ["/a", "/b"]`"#, Rule),
    (r#"request.path == "/a" || "/b" || "/c""#, r#"write `request.path in ["/a", "/b", "/c"]`"#, Rule),
    (r#"request.path == "/a" && "/b""#, r#"write `request.path in ["/a", "/b"]`"#, Rule),
    (r#"request.path != "/a" && "/b""#, r#"write `!(request.path in ["/a", "/b"])`"#, Rule),
    (r#"request.path != "/a" || "/b""#, r#"write `!(request.path in ["/a", "/b"])`"#, Rule),
    (
        r#"request.path.startsWith("/a") || "/b""#,
        r#"write `request.path.startsWith("/a") || request.path.startsWith("/b")`"#,
        Rule,
    ),
    (r#"!request.path == "/""#, r#"write `request.path != "/"`"#, Rule),
    (r#"!request.path != "/""#, r#"write `request.path == "/"`"#, Rule),
    (r#"!request.path in ["/"]"#, r#"write `!(request.path in ["/"])`"#, Rule),
    (r#"request.method == GET"#, r#"a text is in quotes: `"GET"`"#, Part),
    (r#"request.method in [GET, "HEAD"]"#, r#"a text is in quotes: `"GET"`"#, Part),
    (r#"request.method in ("GET", "HEAD")"#, r#"a list is written `["GET", "HEAD"]`"#, Rule),
    (r#"request.method in "GET""#, r#"write `request.method in ["GET"]`"#, Rule),
    (r#""a" in request.path"#, r#"write `request.path.contains("a")`"#, Rule),
    (r#"request.path == "/" ? "a""#, "a conditional is written `condition ? a : b`", Form),
    (r#"if (request.path == "/") true"#, "a conditional is written `condition ? a : b`", Form),
    (r#"request.headers["x-team"] != null"#, r#"write `"x-team" in request.headers`"#, Rule),
    (r#"request.headers["x-team"] == null"#, r#"write `!("x-team" in request.headers)`"#, Rule),
    (r#"request.query != null"#, "write `has(request.query)`", Rule),
    (r#"request.query == null"#, "write `!has(request.query)`", Rule),
    (r#"source.address == 10.0.0.1"#, r#"the text of an address is written `"10.0.0.1"`"#, Part),
    (r#"source.address in [10.0.0.1]"#, r#"the text of an address is written `"10.0.0.1"`"#, Part),
    (r#"source.address in 10.0.0.0/8"#, r#"a network is written `cidr("10.0.0.0/8")`"#, Rule),
    (r#"request.path in "/a,/b""#, r#"write `request.path in ["/a", "/b"]`"#, Rule),
    (r#"request.path in "/a | /b""#, r#"write `request.path in ["/a", "/b"]`"#, Rule),
    (r#"request.method in "(GET|HEAD)""#, r#"write `request.method in ["GET", "HEAD"]`"#, Rule),
    (r#"request.path in "/a, b c""#, r#"write `request.path in ["/a, b c"]`"#, Rule),
    (
        r#"source.address in "10.0.0.0/8,192.0.2.1""#,
        r#"write `["10.0.0.0/8", "192.0.2.1/32"].exists(network, cidr(network).containsIP(source.address))`"#,
        Rule,
    ),
    (r#"GET == request.method"#, r#"a text is in quotes: `"GET"`"#, Part),
    (r#"request.path == True"#, "did you mean `true`?", Form),
    (r#"request.path.startsWith("/") == True"#, "did you mean `true`?", Part),
    (r#"request.query != nil"#, "write `has(request.query)`", Rule),
    (r#"undefined == request.query"#, "write `!has(request.query)`", Rule),
    (r#"request.path != null"#, "`request.path` is never absent or null: leave this comparison out", Form),
    (r#"null == request.path"#, "`request.path` is never absent or null: this is never true", Form),
    (r#"request.path != None"#, "`request.path` is never absent or null: leave this comparison out", Form),
    (r#"request.query is not null"#, "did you mean `!=`?", Form),
    (r#"source.address in "10.0.0.0/8""#, r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#, Rule),
    (r#"request.path == '/a'; true"#, "a rule is one expression; conditions are joined with `&&` and `||`", Form),
    // Functions and methods.
    (r#"request.path.equals("/")"#, r#"write `request.path == "/"`"#, Rule),
    (r#"request.path.isEmpty()"#, "write `request.path.size() == 0`", Rule),
    (r#"request.path[0] == "/""#, "write `request.path.charAt(0)`", Rule),
    (r#"request.path.length > 3"#, "write `request.path.size()`", Rule),
    (r#"request.path.size > 3"#, "write `request.path.size()`", Rule),
    (r#"request.path.length() > 3"#, "did you mean `size`?", Part),
    (r#"len(request.path) > 3"#, "did you mean `size`?", Part),
    (r#"request.path.includes("a")"#, "did you mean `contains`?", Part),
    (r#"request.path.match("a")"#, "did you mean `matches`?", Part),
    (r#"request.path.toLowerCase() == "/a""#, "did you mean `lowerAscii`?", Part),
    (r#"lower(request.path) == "/a""#, r#"write `request.path.lowerAscii()`"#, Rule),
    (r#"starts_with(request.path, "/a")"#, r#"write `request.path.startsWith("/a")`"#, Rule),
    (r#"startsWith(request.path, "/a")"#, r#"write `request.path.startsWith("/a")`"#, Rule),
    (r#"contains(request.path, "a")"#, r#"write `request.path.contains("a")`"#, Rule),
    (r#"request.headers.get("x-team") == "a""#, r#"write `request.headers["x-team"]`"#, Rule),
    (r#"request.headers.containsKey("x-team")"#, r#"write `"x-team" in request.headers`"#, Rule),
    (r#"[1, 2].map(x => x + 1) == [2, 3]"#, "the variable of a macro is its first argument: `x, x + 1`", Part),
    (r#"[1, 2].all( x  =>   x == 1 )"#, "the variable of a macro is its first argument: `x, x == 1`", Part),
    (r#"[1, 2].exists(x => x == 1)"#, "the variable of a macro is its first argument: `x, x == 1`", Part),
    (r#"[1].map((x) => x + 1) == [2]"#, "the variable of a macro is its first argument: `x, x + 1`", Part),
    (r#"[1].exists(x -> x == 1)"#, "the variable of a macro is its first argument: `x, x == 1`", Part),
    (r#"x => x + 1"#, "only macros have a variable, as their first argument: `list.map(x, x + 1)`", Form),
    (
        r#"request.path == "/" && ((x) -> x + 1)"#,
        "only macros have a variable, as their first argument: `list.map(x, x + 1)`",
        Form,
    ),
    (
        r#"net.cidr_contains("10.0.0.0/8", source.address)"#,
        r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#,
        Rule,
    ),
    (
        r#"net.cidr_contains(cidr("10.0.0.0/8"), source.address)"#,
        r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#,
        Rule,
    ),
    (r#"ip_in_range(source.address, "10.0.0.0/8")"#, r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#, Rule),
    (r#"source.address.inCidr("10.0.0.0/8")"#, r#"write `cidr("10.0.0.0/8").containsIP(source.address)`"#, Rule),
    (r#"regex.match("^/a", request.path)"#, r#"write `request.path.matches("^/a")`"#, Rule),
    (r#"hasPrefix(request.path, "/a")"#, r#"write `request.path.startsWith("/a")`"#, Rule),
    (r#"strings.HasPrefix(request.path, "/a")"#, "did you mean `startsWith`?", Form),
    (r#"std.tolower(request.path) == "/a""#, "did you mean `lowerAscii`?", Form),
    // Names of requests in other proxies and languages.
    (r#"input.attributes.request.http.method == "GET""#, "did you mean `request.method`?", Rule),
    (r#"bereq.url == "/a""#, "did you mean `request.uri`?", Rule),
    (r#"request.tls.version == "TLSv1.3""#, "did you mean `source.tls.version`?", Rule),
    (r#"tls.version == "TLSv1.3""#, "did you mean `source.tls.version`?", Rule),
    (r#"request.query.page == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.query["page"] == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.params.page == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.params["page"] == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.uri.query["page"] == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.uri.query.page == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.url.query['page'] == "1""#, r#"did you mean `request.uri.query("page")`?"#, Rule),
    (r#"request.uri.query == "page=1""#, "did you mean `request.query`?", Rule),
    (r#"request.cookies.sid == "1""#, r#"did you mean `request.headers.cookie("sid")`?"#, Rule),
    (r#"request.cookies["sid"] == "1""#, r#"did you mean `request.headers.cookie("sid")`?"#, Rule),
    (r#"request.cookies[source.address] == "1""#, r#"did you mean `request.headers.cookie("name")`?"#, Rule),
    (r#"request.body.name == "a""#, "did you mean `json(request.body).name`?", Rule),
    (r#"request.body["name"] == "a""#, r#"did you mean `json(request.body)["name"]`?"#, Rule),
    (r#"request.time < timestamp("2030-01-01T00:00:00Z")"#, "did you mean `request.startTime`?", Rule),
    (r#"now < timestamp("2030-01-01T00:00:00Z")"#, "did you mean `request.startTime`?", Rule),
    (r#"now() < timestamp("2030-01-01T00:00:00Z")"#, "did you mean `request.startTime`?", Rule),
    (r#"request.ip == "10.0.0.1""#, "did you mean `source.address`?", Rule),
    (r#"request.remote_addr == "10.0.0.1""#, "did you mean `source.address`?", Rule),
    (r#"client.ip == "10.0.0.1""#, "did you mean `source.address`?", Rule),
    (r#"ip.src == "10.0.0.1""#, "did you mean `source.address`?", Rule),
    (r#"request.useragent == "a""#, r#"did you mean `request.headers["user-agent"]`?"#, Rule),
    (r#"request.protocol == "HTTP/1.1""#, "did you mean `request.version`?", Rule),
    (r#"req.protocol == "https""#, "did you mean `request.scheme`?", Rule),
    (r#"request.id == "a""#, r#"did you mean `request.headers["x-request-id"]`?"#, Rule),
    (r#"request.size > 9"#, r#"did you mean `int(request.headers["content-length"])`?"#, Rule),
    (r#"connection.mtls"#, "did you mean `has(source.tls.fingerprint)`?", Rule),
    (r#"connection.requested_server_name == "a""#, "did you mean `source.tls.sni`?", Rule),
    (r#"connection.tls_version == "TLSv1.3""#, "did you mean `source.tls.version`?", Rule),
    (r#"connection.subject_peer_certificate == "CN=a""#, "did you mean `source.tls.subject`?", Rule),
    (r#"connection.uri_san_peer_certificate == "spiffe://a/b""#, "did you mean `source.tls.sans`?", Rule),
    (r#"connection.dns_san_peer_certificate == "a""#, "did you mean `source.tls.sans`?", Rule),
    (r#"connection.sha256_peer_certificate_digest == "a""#, "did you mean `source.tls.fingerprint`?", Rule),
    (r#"request.headers.x-team == "a""#, r#"a name with `-` is in brackets: `request.headers["x-team"]`"#, Rule),
    (
        r#"request.headers.x-forwarded-for == "a""#,
        r#"a name with `-` is in brackets: `request.headers["x-forwarded-for"]`"#,
        Rule,
    ),
    (
        r#"request.headers.x-team-name.startsWith("a")"#,
        r#"a name with `-` is in brackets: `request.headers["x-team-name"]`"#,
        Rule,
    ),
    (
        r#"request.headers.content-type == "a""#,
        r#"a name with `-` is in brackets: `request.headers["content-type"]`"#,
        Rule,
    ),
    (r#"request.header("x-team") == "a""#, r#"did you mean `request.headers["x-team"]`?"#, Rule),
    (r#"req.get("x-team") == "a""#, r#"did you mean `request.headers["x-team"]`?"#, Rule),
    (r#"input.request.headers["x-team"] == "a""#, r#"did you mean `request.headers["x-team"]`?"#, Rule),
    (
        r#"request.?query.orValue("") == "a""#,
        "`request.query` is one name: write `default(request.query, ..)`, or test for it with `has(request.query)`",
        Rule,
    ),
    (r#"request.?path.orValue("") == "/""#, "`request.path` is one name, and never absent: write `request.path`", Rule),
    (r#"cookies.sid == "a""#, r#"did you mean `request.headers.cookie("sid")`?"#, Rule),
    (r#"req.url == "/""#, "did you mean `request.uri`?", Rule),
    (r#"req.path == "/""#, "did you mean `request.path`?", Rule),
    (r#"req.http.X-Team == "a""#, r#"did you mean `request.headers["x-team"]`?"#, Rule),
    (r#"req.http.Host == "a""#, r#"did you mean `request.headers["host"]`?"#, Rule),
    (r#"$http_x_team == "a""#, r#"did you mean `request.headers["x-team"]`?"#, Part),
    (r#"$request_uri == "/""#, "did you mean `request.uri`?", Part),
    (r#"$uri == "/""#, "did you mean `request.path`?", Part),
    (r#"$remote_addr == "10.0.0.1""#, "did you mean `source.address`?", Part),
    (r#"$request_method == "GET""#, "did you mean `request.method`?", Part),
    (r#"$cookie_sid == "a""#, r#"did you mean `request.headers.cookie("sid")`?"#, Part),
    (r#"http.request.uri.path == "/""#, "did you mean `request.path`?", Rule),
    (r#"http.request.method == "GET""#, "did you mean `request.method`?", Rule),
    (r#"http.host == "a""#, "did you mean `request.host`?", Rule),
    (r#"http.user_agent == "a""#, r#"did you mean `request.headers["user-agent"]`?"#, Rule),
    (r#"input.path == "/""#, "did you mean `request.path`?", Rule),
    (r#"input.request.method == "GET""#, "did you mean `request.method`?", Rule),
    (r#"path == "/""#, "did you mean `request.path`?", Rule),
    (r#"{{ request.path }} == "/""#, r#"a rule is an expression without `{{` and `}}`: `request.path == "/"`"#, Rule),
    (r#"{{ .Request.Path }} == "/""#, r#"a rule is an expression without `{{` and `}}`: `request.path == "/"`"#, Rule),
    (r#"{{request.path}}=="/""#, r#"a rule is an expression without `{{` and `}}`: `request.path=="/"`"#, Rule),
    (r#"{{.Request.Path}} == "/""#, r#"a rule is an expression without `{{` and `}}`: `request.path == "/"`"#, Rule),
    (r#"{{ .Request.Header.Get "X-Team" }} == "a""#, "a rule is an expression, without `{{` and `}}`", Form),
    (r#"{{ eq .Request.Path "/" }}"#, "a rule is an expression, without `{{` and `}}`", Form),
    (r#"${request.path} == "/""#, r#"a rule is an expression without `${` and `}`: `request.path == "/"`"#, Rule),
];

/// Returns what stands in the last backquotes of a help.
fn suggested(help: &str) -> &str {
    help.rsplit('`').nth(1).unwrap_or_default()
}

fn found(engine: &Engine, env: &Env<Data<'static>>, source: &str) -> Vec<Diagnostic> {
    engine.check(env, source).map_or_else(|error| error.diagnostics().to_vec(), |_| Vec::new())
}

#[test]
fn each_mistake_has_one_help_and_its_suggestion_is_accepted() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<Data<'_>>::new();
    let mut wrong = Vec::new();
    for (source, help, kind) in ROWS {
        let errors = found(&engine, &env, source);
        let helps: Vec<&String> = errors.iter().flat_map(|error| &error.help).collect();
        let ([error], [given]) = (&*errors, &*helps) else {
            wrong.push(format!("{source}\n  wanted: {help}\n  found: {} errors, {helps:?} {errors:?}", errors.len()));
            continue;
        };
        if given != help {
            wrong.push(format!("{source}\n  wanted: {help}\n  found: {given}"));
        }
        let span = error.span;
        let (before, after) = (&source[..span.start as usize], &source[span.end as usize..]);
        let rule = match kind {
            Rule => suggested(given).to_owned(),
            Part => format!("{before}{}{after}", suggested(given)),
            Form => continue,
        };
        let errors = found(&engine, &env, &rule);
        if !errors.is_empty() {
            wrong.push(format!("{source}\n  help: {given}\n  refused: {rule}: {}", errors[0].message));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// Without the variables that a help would name, it names none.
#[test]
fn only_what_is_declared_is_suggested() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::dynamic();
    for (source, _, kind) in ROWS {
        let Err(error) = engine.check(&env, source) else { panic!("{source}") };
        for help in error.diagnostics().iter().flat_map(|found| &found.help).filter(|_| *kind != Form) {
            let named = suggested(help);
            let source = source.to_ascii_lowercase();
            let is_of_source = |name: &str| source.contains(name) || !named.contains(name);
            assert!(is_of_source("request.") && is_of_source("source."), "{source}: {help}");
        }
    }
}

/// A name that is not declared is no text where a variable is expected.
#[test]
fn unknown_variables_are_not_quoted() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<Data<'_>>::new();
    for source in [r#"tenant == "acme""#, r#""acme" == tenant"#, "tenant == request.host", "TENANT == 1"] {
        let errors = found(&engine, &env, source);
        assert!(errors.iter().all(|error| error.help.is_empty()), "{source}: {errors:?}");
    }
}

/// Braces in a text are not those of a template.
#[test]
fn braces_in_texts_do_not_hide_what_is_wrong() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let source = r#"request.path == "/${id}" && (request.method == "GET""#;
    let errors = found(&engine, &Env::<Data<'_>>::new(), source);
    assert!(errors.iter().all(|error| error.help.iter().all(|help| !help.contains("without"))), "{errors:?}");
    assert!(errors.iter().any(|error| error.code == "unclosed-bracket"), "{errors:?}");
}

/// A near miss of the mistakes is a rule like any other.
#[test]
fn what_is_meant_as_written_is_accepted() {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::<Data<'_>>::new();
    for source in [
        r#"request.path == "/a" || request.path == "/b""#,
        r#"request.method in (["GET"])"#,
        r#"request.headers.x == "a""#,
        r#"request.port-source.port == 1"#,
        r#"{"a": 2}.a-size(request.path) == 1"#,
        r#"[1].map(not, not + 1) == [2]"#,
        r#"["a"].exists(is, is in ["a"])"#,
        r#"{"contains": true}.contains"#,
        r#"request.path.contains("{{") || request.path.contains("$http")"#,
        r#"{{1: 2}: 3}.size() == 1"#,
        r#"[1].exists(x, 2 >= x)"#,
        r#"10.0 > 1.5"#,
    ] {
        assert!(found(&engine, &env, source).is_empty(), "{source}: {:?}", found(&engine, &env, source));
    }
}
