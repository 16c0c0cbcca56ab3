package evidence

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
)

// rulesetVersion changes with any change of what is redacted.
const rulesetVersion = "handrail-rules-1"

func rulesetDigest() string { return sumHex([]byte(rulesetVersion)) }

// ruleset is an automaton over cheap literals and, for each literal, the rule that decides at its place.
type ruleset struct {
	auto  *automaton
	match []func(place) (hit, bool)
}

// shapes are secrets that their own form gives away. The expression is tried at the literal only, and its end is open,
// so that a longer secret leaves no tail.
var shapes = [...]struct{ literal, kind, expr string }{
	{"akia", "aws-key", `AKIA[A-Z0-9]{16,}`},
	{"asia", "aws-key", `ASIA[A-Z0-9]{16,}`},
	{"ghp_", "github", `ghp_[A-Za-z0-9_]{20,}`},
	{"gho_", "github", `gho_[A-Za-z0-9_]{20,}`},
	{"ghu_", "github", `ghu_[A-Za-z0-9_]{20,}`},
	{"ghs_", "github", `ghs_[A-Za-z0-9_.-]{20,}`},
	{"ghr_", "github", `ghr_[A-Za-z0-9_]{20,}`},
	{"github_pat_", "github", `github_pat_[A-Za-z0-9_]{20,}`},
	{"gl", "gitlab", `gl(?:pat|dt|rt|ptt|cbt|agent|oas|soat|imt|ft|ffct)-[A-Za-z0-9_.-]{16,}`},
	{"xox", "slack", `xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}`},
	{"xapp-", "slack", `xapp-[A-Za-z0-9-]{10,}`},
	{"hooks.slack.com/", "slack", `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{16,}`},
	{"eyj", "jwt", `eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)+`},
	{"sk_live_", "api-key", `sk_live_[A-Za-z0-9]{16,}`},
	{"rk_live_", "api-key", `rk_live_[A-Za-z0-9]{16,}`},
	{"sk-ant-", "api-key", `sk-ant-[A-Za-z0-9_-]{16,}`},
	{"sk-proj-", "api-key", `sk-proj-[A-Za-z0-9_-]{16,}`},
	{"aiza", "google", `AIza[A-Za-z0-9_-]{35,}`},
	{"ya29.", "google", `ya29\.[A-Za-z0-9_-]{20,}`},
	{"gocspx-", "google", `GOCSPX-[A-Za-z0-9_-]{20,}`},
	{"hvs.", "vault", `hvs\.[A-Za-z0-9_-]{20,}`},
	{"hvb.", "vault", `hvb\.[A-Za-z0-9_-]{20,}`},
	{"npm_", "npm", `npm_[A-Za-z0-9]{30,}`},
	{"pypi-", "pypi", `pypi-[A-Za-z0-9_-]{40,}`},
	{"sg.", "sendgrid", `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
	{"dckr_pat_", "docker", `dckr_pat_[A-Za-z0-9_-]{16,}`},
	{"dop_v1_", "digitalocean", `dop_v1_[a-f0-9]{40,}`},
	{"glsa_", "grafana", `glsa_[A-Za-z0-9_]{20,}`},
	{"age-secret-key-1", "private-key", `AGE-SECRET-KEY-1[A-Z0-9]{20,}`},
	{"tskey-", "api-key", `tskey-[A-Za-z0-9-]{16,}`},
}

func newRuleset() *ruleset {
	s := &ruleset{}
	var literals []string
	add := func(match func(place) (hit, bool), lits ...string) {
		for _, l := range lits {
			literals = append(literals, l)
			s.match = append(s.match, match)
		}
	}
	add(ownToken, tokenOpen)
	add(privateKey, "-----begin")
	for _, sh := range shapes {
		re := regexp.MustCompile(`\A(?:` + sh.expr + `)`)
		kind := sh.kind
		add(func(p place) (hit, bool) { return shape(p, re, kind) }, sh.literal)
	}
	add(terraformCloud, ".atlasv1.")
	add(newBearer(), "bearer ")
	add(newAuthorization(), "authorization", "cookie")
	add(newUserinfo(), "://")
	add(dsn, "@tcp(", "@unix(")
	add(query, "sig=", "key=", "x-amz-", "signature=", "code=")
	add(assignment, "passw", "passphrase", "passcode", "pwd", "secret", "token", "_key", "-key", "apikey", "accesskey",
		"privatekey", "accountkey", "signingkey", "encryptionkey", "masterkey", "credential", "dockerc",
		"client-certificate-data", `"auth"`, `\"auth\`, "_auth")
	for _, l := range encodedLiterals() {
		exact := l
		add(func(p place) (hit, bool) { return encoded(p, exact) }, strings.ToLower(l))
	}
	s.auto = newAutomaton(literals, true)
	return s
}

// ownToken passes tokens of this bundle by and marks text that only looks like one.
func ownToken(p place) (hit, bool) {
	n, cut := p.r.tokenAt(p.in[p.at:])
	switch {
	case n > 0:
		return hit{start: p.at, end: p.at + n, skip: true}, true
	case string(p.in[p.at:p.end]) != tokenOpen:
		return hit{}, false
	}
	return hit{start: p.at, end: p.end, forged: true, more: cut}, true
}

func shape(p place, re *regexp.Regexp, kind string) (hit, bool) {
	loc := re.FindIndex(p.line(p.at))
	if loc == nil {
		return hit{}, false
	}
	end := p.at + loc[1]
	// An upper-case key inside a longer upper-case word is part of base64 or of a name.
	if kind == "aws-key" && p.at > 0 && (isUpperDigit(p.in[p.at-1])) {
		return hit{}, false
	}
	return hit{start: p.at, end: end, kind: kind, value: p.in[p.at:end], more: end == len(p.in) || end >= p.at+holdMost}, true
}

func isUpperDigit(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

var (
	pemOpen  = regexp.MustCompile(`\A-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
	pemClose = regexp.MustCompile(`-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
)

// privateKey covers a whole PEM block, also with its newlines escaped. One without an end reaches to the end of the
// input or 64 KiB.
func privateKey(p place) (hit, bool) {
	open := pemOpen.FindIndex(p.in[p.at:min(len(p.in), p.at+96)])
	if open == nil {
		// The first line itself may be cut.
		return hit{start: p.at, end: p.at + 1, kind: "private-key", more: true}, false
	}
	rest := p.in[p.at:min(len(p.in), p.at+holdMost)]
	h := hit{start: p.at, kind: "private-key"}
	if loc := pemClose.FindIndex(rest); loc != nil {
		h.end = p.at + loc[1]
	} else {
		h.end, h.more = p.at+len(rest), true
	}
	h.value = pemBody(p.in[h.start:h.end])
	return h, true
}

// pemBody drops what differs between a key on lines, indented and with escaped newlines.
func pemBody(b []byte) []byte {
	for _, esc := range [...]string{`\r`, `\n`, "\r", "\n", " ", "\t", `\`} {
		b = bytes.ReplaceAll(b, []byte(esc), nil)
	}
	return b
}

// terraformCloud tokens have their literal in the middle.
func terraformCloud(p place) (hit, bool) {
	start, end := p.at, p.end
	for start > p.floor && isWord(p.in[start-1]) {
		start--
	}
	for end < len(p.in) && (isWord(p.in[end]) || p.in[end] == '-') {
		end++
	}
	if p.at-start < 10 || end-p.end < 40 {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "terraform-cloud", value: p.in[start:end], more: end == len(p.in)}, true
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func newBearer() func(place) (hit, bool) {
	re := regexp.MustCompile(`\A(?i:bearer)[ \t]+([A-Za-z0-9._~+/-]{8,}=*)`)
	return func(p place) (hit, bool) {
		loc := re.FindSubmatchIndex(p.line(p.at))
		if loc == nil {
			return hit{}, false
		}
		v := p.in[p.at+loc[2] : p.at+loc[3]]
		// "bearer authentication" is prose.
		if len(v) < 24 && !bytes.ContainsAny(v, "0123456789") {
			return hit{}, false
		}
		end := p.at + loc[3]
		return hit{start: p.at + loc[2], end: end, kind: "bearer", value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
	}
}

// newAuthorization covers the header with its scheme kept, in HTTP, JSON and curl -H shape, and cookies.
func newAuthorization() func(place) (hit, bool) {
	re := regexp.MustCompile(`\A(?i:authorization|cookie)\\*["']?[ \t]*[:=][ \t]*\[?\\*["']?` +
		`((?i:basic|bearer|token|digest|negotiate|ntlm|aws4-hmac-sha256|apikey|sso-key)[ \t]+)?([^\\"'\r\n<>]+)`)
	return func(p place) (hit, bool) {
		loc := re.FindSubmatchIndex(p.line(p.at))
		if loc == nil {
			return hit{}, false
		}
		v := bytes.TrimRight(p.in[p.at+loc[4]:p.at+loc[5]], " \t,;)}]")
		isCookie := p.in[p.at]|0x20 == 'c'
		scheme := loc[2] >= 0
		switch {
		case len(v) == 0, harmlessValue(v, nil, false):
			return hit{}, false
		case isCookie && !bytes.Contains(v, []byte("=")):
			return hit{}, false
		case !isCookie && !scheme && (len(v) < 16 || bytes.ContainsAny(v, " ,")):
			return hit{}, false
		}
		start := p.at + loc[4]
		end := start + len(v)
		return hit{start: start, end: end, kind: "authorization", value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
	}
}

// newUserinfo keeps the user of a URL and hides the password, or a long user that is a token itself.
func newUserinfo() func(place) (hit, bool) {
	re := regexp.MustCompile(`\A://([^\s/?#"'<>@:\\]*)(?::([^\s/?#"'<>\\]+))?@`)
	return func(p place) (hit, bool) {
		line := p.line(p.at)
		loc := re.FindSubmatchIndex(line[:min(len(line), 4096)])
		if loc == nil {
			return hit{}, false
		}
		from, to := loc[4], loc[5]
		if from < 0 {
			if from, to = loc[2], loc[3]; to-from < 16 {
				return hit{}, false
			}
		}
		v := p.in[p.at+from : p.at+to]
		if harmlessValue(v, nil, true) {
			return hit{}, false
		}
		return hit{start: p.at + from, end: p.at + to, kind: "url-userinfo", value: v}, true
	}
}

// dsn is user:password@tcp(host) of database drivers.
func dsn(p place) (hit, bool) {
	start := p.at
	for start > p.floor && p.at-start < 256 && !bytes.ContainsRune([]byte(" \t\r\n\"'<>:"), rune(p.in[start-1])) {
		start--
	}
	if start == p.floor || start == p.at || p.in[start-1] != ':' {
		return hit{}, false
	}
	return hit{start: start, end: p.at, kind: "url-userinfo", value: p.in[start:p.at]}, true
}

// query hides the value of a query parameter that carries a secret.
func query(p place) (hit, bool) {
	if p.at == 0 || !bytes.ContainsRune([]byte("?&;"), rune(p.in[p.at-1])) && !bytes.HasSuffix(p.in[:p.at], []byte(`u0026`)) {
		return hit{}, false
	}
	line := p.line(p.at)
	eq := bytes.IndexByte(line, '=')
	if eq < 0 || eq > 64 {
		return hit{}, false
	}
	v := line[eq+1:]
	if end := bytes.IndexAny(v, "&;# \t\r\"'<>\\)`"); end >= 0 {
		v = v[:end]
	}
	if len(v) < 4 {
		return hit{}, false
	}
	start := p.at + eq + 1
	return hit{start: start, end: start + len(v), kind: "query", value: v, more: start+len(v) == len(p.in) || start+len(v) >= p.at+holdMost}, true
}

// encodedLiterals are the base64 forms of the beginnings that give a secret away, at the three alignments.
func encodedLiterals() []string {
	seen := map[string]bool{}
	var out []string
	for _, lit := range [...]string{"-----BEGIN", "eyJ", "eyJh", "eyJ0", "eyJr", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "AKIA", "xoxb-", "xoxp-",
		"hvs.", "password", "Authorization", "npm_", "sk_live_", "AIza"} {
		for shift := range 3 {
			if core := base64Core(base64.StdEncoding, lit, shift); len(core) >= 4 && !seen[core] {
				seen[core] = true
				out = append(out, core)
			}
		}
	}
	return out
}

// encoded looks into a run of base64 and hides all of it when the decoded bytes hold a secret.
func encoded(p place, exact string) (hit, bool) {
	if p.deep || p.at < *p.b64 || string(p.in[p.at:p.end]) != exact {
		return hit{}, false
	}
	start, end := p.at, p.end
	for start > p.floor && p.at-start < holdMost && isBase64(p.in[start-1]) {
		start--
	}
	for end < len(p.in) && end-p.at < holdMost && isBase64(p.in[end]) {
		end++
	}
	*p.b64 = end
	run := bytes.TrimRight(p.in[start:end], "=")
	run = bytes.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, run)
	// An escape like \n before the run lends it a letter, which shifts the alignment.
	for skip := 0; skip < 4 && skip < len(run); skip++ {
		part := run[skip:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		raw, err := base64.RawStdEncoding.DecodeString(string(part))
		if err != nil {
			continue
		}
		if h, ok := p.r.found(raw); ok {
			v := bytes.TrimSpace(raw)
			if len(h.value) > 0 && h.end-h.start >= len(v) {
				v = h.value
			}
			return hit{start: start + skip, end: end, kind: h.kind, value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
		}
	}
	return hit{}, false
}

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '-' || c == '=' }
