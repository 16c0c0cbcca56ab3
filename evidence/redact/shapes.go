package redact

import (
	"bytes"
	"regexp"
)

// shaped is a secret that its own form gives away: a literal that begins it, and what must follow. The expression is
// tried at the literal only, and its end is open, so that a longer secret leaves no tail.
type shaped struct {
	literal, kind, tail string
	whole               bool // it must begin a word: the literal alone is too common
}

// shapes in true case; the automaton finds them in any case and the expression decides.
var shapes = [...]shaped{
	{literal: "AKIA", kind: "aws-key", tail: `[A-Z0-9]{16,}`, whole: true},
	{literal: "ASIA", kind: "aws-key", tail: `[A-Z0-9]{16,}`, whole: true},
	{literal: "ABIA", kind: "aws-key", tail: `[A-Z0-9]{16,}`, whole: true},
	{literal: "ACCA", kind: "aws-key", tail: `[A-Z0-9]{16,}`, whole: true},
	{literal: "ghp_", kind: "github", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "gho_", kind: "github", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "ghu_", kind: "github", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "ghs_", kind: "github", tail: `[A-Za-z0-9_.-]{20,}`},
	{literal: "ghr_", kind: "github", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "github_pat_", kind: "github", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "glpat-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "gldt-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glrt-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glptt-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glcbt-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glagent-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "gloas-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glsoat-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glimt-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glft-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "glffct-", kind: "gitlab", tail: `[A-Za-z0-9_.-]{16,}`},
	{literal: "xoxa-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxb-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxp-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxr-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxs-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxc-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "xoxd-", kind: "slack", tail: `[A-Za-z0-9%/+-]{10,}`},
	{literal: "xoxe", kind: "slack", tail: `(?:\.xox[a-z])?-[A-Za-z0-9-]{10,}`},
	{literal: "xapp-", kind: "slack", tail: `[A-Za-z0-9-]{10,}`},
	{literal: "hooks.slack.com/", kind: "slack", tail: `(?:services|workflows|triggers)/[A-Za-z0-9/_-]{16,}`},
	{literal: "discord.com/api/webhooks/", kind: "webhook", tail: `[0-9]{5,}/[A-Za-z0-9_-]{20,}`},
	{literal: "discordapp.com/api/webhooks/", kind: "webhook", tail: `[0-9]{5,}/[A-Za-z0-9_-]{20,}`},
	{literal: "webhook.office.com/webhookb2/", kind: "webhook", tail: `[A-Za-z0-9@/_-]{20,}`},
	{literal: "events.pagerduty.com/integration/", kind: "webhook", tail: `[a-f0-9]{20,}`},
	{literal: "eyJ", kind: "jwt", tail: `[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)+`},
	{literal: "sk_live_", kind: "stripe", tail: `[A-Za-z0-9]{16,}`},
	{literal: "rk_live_", kind: "stripe", tail: `[A-Za-z0-9]{16,}`},
	{literal: "sk_test_", kind: "stripe", tail: `[A-Za-z0-9]{16,}`},
	{literal: "whsec_", kind: "stripe", tail: `[A-Za-z0-9+/]{16,}=*`},
	{literal: "sk-ant-", kind: "api-key", tail: `[A-Za-z0-9_-]{16,}`},
	{literal: "sk-proj-", kind: "api-key", tail: `[A-Za-z0-9_-]{16,}`},
	{literal: "sk-svcacct-", kind: "api-key", tail: `[A-Za-z0-9_-]{16,}`},
	{literal: "sk-or-v1-", kind: "api-key", tail: `[A-Za-z0-9]{16,}`},
	{literal: "hf_", kind: "api-key", tail: `[A-Za-z0-9]{30,}`, whole: true},
	{literal: "dapi", kind: "databricks", tail: `[a-f0-9]{32,}(?:-[0-9]+)?`, whole: true},
	{literal: "AIza", kind: "google", tail: `[A-Za-z0-9_-]{35,}`},
	{literal: "ya29.", kind: "google", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "GOCSPX-", kind: "google", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "1//0", kind: "google", tail: `[A-Za-z0-9_-]{40,}`, whole: true},
	{literal: "hvs.", kind: "vault", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "hvb.", kind: "vault", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "hvr.", kind: "vault", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "npm_", kind: "npm", tail: `[A-Za-z0-9]{30,}`},
	{literal: "pypi-", kind: "pypi", tail: `[A-Za-z0-9_-]{40,}`},
	{literal: "rubygems_", kind: "rubygems", tail: `[a-f0-9]{40,}`},
	{literal: "oy2", kind: "nuget", tail: `[a-z0-9]{43,}`, whole: true},
	{literal: "SG.", kind: "sendgrid", tail: `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, whole: true},
	{literal: "xkeysib-", kind: "api-key", tail: `[a-f0-9]{40,}(?:-[A-Za-z0-9]+)?`},
	{literal: "key-", kind: "mailgun", tail: `[a-f0-9]{32,}`, whole: true},
	{literal: "dckr_pat_", kind: "docker", tail: `[A-Za-z0-9_-]{16,}`},
	{literal: "dckr_oat_", kind: "docker", tail: `[A-Za-z0-9_-]{16,}`},
	{literal: "dop_v1_", kind: "digitalocean", tail: `[a-f0-9]{40,}`},
	{literal: "doo_v1_", kind: "digitalocean", tail: `[a-f0-9]{40,}`},
	{literal: "dor_v1_", kind: "digitalocean", tail: `[a-f0-9]{40,}`},
	{literal: "glsa_", kind: "grafana", tail: `[A-Za-z0-9_]{20,}`},
	{literal: "glc_", kind: "grafana", tail: `[A-Za-z0-9+/_-]{24,}=*`, whole: true},
	{literal: "AGE-SECRET-KEY-1", kind: "private-key", tail: `[A-Z0-9]{20,}`},
	{literal: "AGE-SECRET-KEY-PQ-1", kind: "private-key", tail: `[A-Z0-9]{20,}`},
	{literal: "tskey-", kind: "api-key", tail: `[A-Za-z0-9-]{16,}`},
	{literal: "sntrys_", kind: "sentry", tail: `[A-Za-z0-9+/=_-]{20,}`},
	{literal: "sntryu_", kind: "sentry", tail: `[a-f0-9]{20,}`},
	{literal: "NRAK-", kind: "api-key", tail: `[A-Z0-9]{20,}`},
	{literal: "ATATT3", kind: "atlassian", tail: `[A-Za-z0-9_=-]{20,}`},
	{literal: "ATBB", kind: "atlassian", tail: `[A-Za-z0-9]{24,}`, whole: true},
	{literal: "dp.pt.", kind: "doppler", tail: `[A-Za-z0-9]{20,}`},
	{literal: "dp.st.", kind: "doppler", tail: `[A-Za-z0-9_.]{20,}`},
	{literal: "pul-", kind: "pulumi", tail: `[a-f0-9]{40,}`, whole: true},
	{literal: "pscale_", kind: "api-key", tail: `(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}`},
	{literal: "fm2_", kind: "api-key", tail: `[A-Za-z0-9+/_-]{40,}=*`, whole: true},
	{literal: "PMAK-", kind: "api-key", tail: `[a-f0-9]{20,}-[a-f0-9]{20,}`},
	{literal: "LTAI", kind: "alibaba", tail: `[A-Za-z0-9]{12,}`, whole: true},
	{literal: "AKID", kind: "tencent", tail: `[A-Za-z0-9]{28,}`, whole: true},
	{literal: "HRKU-", kind: "heroku", tail: `[A-Za-z0-9_-]{30,}`},
	{literal: "sbp_", kind: "api-key", tail: `[a-f0-9]{36,}`, whole: true},
	{literal: "figd_", kind: "api-key", tail: `[A-Za-z0-9_-]{30,}`},
	{literal: "lin_api_", kind: "api-key", tail: `[A-Za-z0-9]{30,}`},
	{literal: "ntn_", kind: "api-key", tail: `[A-Za-z0-9]{36,}`, whole: true},
	{literal: "shpat_", kind: "shopify", tail: `[a-fA-F0-9]{28,}`},
	{literal: "shpss_", kind: "shopify", tail: `[a-fA-F0-9]{28,}`},
	{literal: "shpca_", kind: "shopify", tail: `[a-fA-F0-9]{28,}`},
	{literal: "dt0c01.", kind: "dynatrace", tail: `[A-Z0-9]{20,}\.[A-Z0-9]{40,}`},
	{literal: "ops_eyJ", kind: "api-key", tail: `[A-Za-z0-9+/_-]{40,}=*`},
	{literal: "AKCp", kind: "jfrog", tail: `[A-Za-z0-9]{40,}`, whole: true},
	{literal: "cmVmdGtu", kind: "jfrog", tail: `[A-Za-z0-9]{40,}`, whole: true},
	{literal: "CCIPAT_", kind: "api-key", tail: `[A-Za-z0-9_-]{20,}`},
	{literal: "bkua_", kind: "api-key", tail: `[a-f0-9]{36,}`},
	{literal: "v1.0-", kind: "cloudflare", tail: `[a-f0-9]{20,}-[a-f0-9]{80,}`, whole: true},
	{literal: "EAAAE", kind: "api-key", tail: `[A-Za-z0-9_-]{50,}`, whole: true},
	{literal: "$2a$", kind: "password-hash", tail: `[0-9]{2}\$[A-Za-z0-9./]{40,}`},
	{literal: "$2b$", kind: "password-hash", tail: `[0-9]{2}\$[A-Za-z0-9./]{40,}`},
	{literal: "$2y$", kind: "password-hash", tail: `[0-9]{2}\$[A-Za-z0-9./]{40,}`},
	{literal: "$6$", kind: "password-hash", tail: `(?:rounds=[0-9]+\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{40,}`},
	{literal: "$5$", kind: "password-hash", tail: `(?:rounds=[0-9]+\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{40,}`},
	{literal: "$y$", kind: "password-hash", tail: `[A-Za-z0-9./]+\$[A-Za-z0-9./]{1,86}\$[A-Za-z0-9./]{40,}`},
	{literal: "$apr1$", kind: "password-hash", tail: `[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{20,}`},
	{literal: "$argon2", kind: "password-hash", tail: `(?:id|i|d)\$[A-Za-z0-9=,$]{4,64}\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{20,}`},
	// Gzip in base64 is what Helm keeps its releases in; nothing but unpacking would tell what is in it.
	{literal: "H4sIA", kind: "gzip", tail: `[A-Za-z0-9+/]{40,}=*`, whole: true},
	{literal: "SDRzSUFB", kind: "gzip", tail: `[A-Za-z0-9+/]{40,}=*`, whole: true},
}

// compile returns the expression of a shape.
func (sh shaped) compile() *regexp.Regexp {
	return regexp.MustCompile(`\A` + regexp.QuoteMeta(sh.literal) + `(?:` + sh.tail + `)`)
}

// regexSpan is how much a shape is first tried on: the matcher clears memory in proportion to its input.
const regexSpan = 512

func shape(p place, re *regexp.Regexp, kind string, whole bool) (hit, bool) {
	if whole && p.at > 0 && isWord(p.in[p.at-1]) && !escapedBefore(p.in, p.at) {
		return hit{}, false
	}
	line := p.line(p.at)
	loc := re.FindIndex(line[:min(len(line), regexSpan)])
	if loc != nil && loc[1] == regexSpan {
		loc = re.FindIndex(line)
	}
	if loc == nil {
		return hit{}, false
	}
	end := p.at + loc[1]
	return hit{start: p.at, end: end, kind: kind, value: p.in[p.at:end], more: end == len(p.in) || end >= p.at+holdMost}, true
}

// escapedBefore reports whether what stands before i is an escape of JSON or of a URL, whose last letter begins no word.
func escapedBefore(in []byte, i int) bool {
	return i > 1 && in[i-2] == '\\' && bytes.IndexByte([]byte("nrt"), in[i-1]) >= 0 ||
		i > 2 && in[i-3] == '%' && isHexDigit(in[i-2]) && isHexDigit(in[i-1]) || i > 4 && in[i-5] == '\\' && in[i-4] == 'u'
}
