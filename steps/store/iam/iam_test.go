package iam

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	writer    = "arn:aws:iam::111122223333:user/uploader"
	analytics = "arn:aws:iam::111122223333:user/analytics"
	object    = "arn:aws:s3:::uploads/2026/a.png"
)

func parsed(t *testing.T, texts ...string) (out []Policy) {
	t.Helper()
	for _, text := range texts {
		p, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, p)
	}
	return out
}

func one(statements ...string) string {
	return `{"Version": "2012-10-17", "Statement": [` + strings.Join(statements, ",") + `]}`
}

// TestDecide: the logic of the User Guide, statement by statement.
func TestDecide(t *testing.T) {
	t.Parallel()
	const (
		mayWrite = `{"Sid": "write", "Effect": "Allow", "Action": ["s3:PutObject", "s3:Get*"], "Resource": "arn:aws:s3:::uploads/*"}`
		all      = `{"Effect": "Allow", "Action": "*", "Resource": "*"}`
	)
	deny := func(rest string) string {
		return `{"Sid": "guard", "Effect": "Deny", "Action": ["s3:PutObject", "s3:DeleteObject"], "Resource": "arn:aws:s3:::uploads/*", ` + rest + `}`
	}
	for name, tc := range map[string]struct {
		identity, bucket string
		context          map[string][]string
		principal        string
		want             Effect
		at               string // part of it
	}{
		"nothing allows":                   {identity: one(`{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"}`), want: None},
		"the identity allows":              {identity: one(mayWrite), want: Allow, at: "identity policy 1, statement 1 (write)"},
		"names of actions have no case":    {identity: one(`{"Effect": "Allow", "Action": "S3:putobject", "Resource": "*"}`), want: Allow},
		"the bucket allows alone":          {bucket: one(`{"Effect": "Allow", "Principal": {"AWS": "` + writer + `"}, "Action": "s3:*", "Resource": "arn:aws:s3:::uploads/*"}`), want: Allow, at: "resource policy 1"},
		"another principal":                {bucket: one(`{"Effect": "Allow", "Principal": {"AWS": "` + analytics + `"}, "Action": "s3:*", "Resource": "*"}`), want: None},
		"its account":                      {bucket: one(`{"Effect": "Allow", "Principal": {"AWS": "111122223333"}, "Action": "s3:*", "Resource": "*"}`), want: None},
		"its account, and its own policy":  {identity: one(mayWrite), bucket: one(`{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "s3:*", "Resource": "*"}`), want: Allow, at: "identity policy 1"},
		"a deny of its account":            {identity: one(all), bucket: one(deny(`"Principal": {"AWS": "111122223333"}`)), want: Deny, at: "guard"},
		"a deny of the bucket wins":        {identity: one(all), bucket: one(deny(`"Principal": "*"`)), want: Deny, at: "resource policy 1, statement 1 (guard)"},
		"a deny of the identity wins":      {identity: one(all, `{"Effect": "Deny", "NotAction": "s3:Get*", "Resource": "*"}`), want: Deny, at: "identity policy 1, statement 2"},
		"all but one is denied":            {identity: one(all), bucket: one(deny(`"NotPrincipal": {"AWS": ["` + analytics + `", "111122223333"]}`)), principal: "arn:aws:iam::444455556666:user/x", want: Deny, at: "guard"},
		"inverted, the writer":             {identity: one(all), bucket: one(deny(`"NotPrincipal": {"AWS": "` + analytics + `"}`)), want: Deny, at: "guard"},
		"inverted, the one it spares":      {identity: one(all), bucket: one(deny(`"NotPrincipal": {"AWS": "` + analytics + `"}`)), principal: analytics, want: Unknown, at: "guard"},
		"inverted, with the account":       {identity: one(all), bucket: one(deny(`"NotPrincipal": {"AWS": ["` + analytics + `", "arn:aws:iam::111122223333:root"]}`)), principal: analytics, want: Allow},
		"inverted, another of the account": {identity: one(all), bucket: one(deny(`"NotPrincipal": {"AWS": ["` + analytics + `", "arn:aws:iam::111122223333:root"]}`)), want: Deny, at: "guard"},
		"inverted, the account itself":     {bucket: one(deny(`"NotPrincipal": {"AWS": "111122223333"}`), `{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}`), principal: "arn:aws:iam::111122223333:root", want: Allow},
		"another resource":                 {identity: one(all), bucket: one(`{"Effect": "Deny", "Principal": "*", "Action": "*", "NotResource": "arn:aws:s3:::uploads/*"}`), want: Allow},
		"a bucket is not its objects":      {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads"}`), want: None},
		"a variable may match":             {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${aws:username}/*"}`), want: Unknown, at: "identity"},
		"a variable that is given":         {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${aws:UserName}/*"}`), context: map[string][]string{"aws:username": {"2026"}}, want: Allow},
		"a variable of another":            {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${aws:username}/*"}`), context: map[string][]string{"aws:username": {"2025"}}, want: None},
		"a variable with a star in it":     {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${aws:username}/*"}`), context: map[string][]string{"aws:username": {"*"}}, want: Unknown, at: "identity"},
		"a variable with two values":       {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${k}/*"}`), context: map[string][]string{"k": {"2026", "b"}}, want: Unknown, at: "identity"},
		"a variable without a value":       {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${k}*"}`), context: map[string][]string{"k": {}}, want: None},
		"none of a variable without one":   {identity: one(all, `{"Effect": "Deny", "Action": "*", "NotResource": "arn:aws:s3:::uploads/${k}*"}`), context: map[string][]string{"k": {}}, want: Deny},
		"not equal to one without one":     {identity: one(all, `{"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"StringNotEquals": {"t": "${k}"}}}`), context: map[string][]string{"k": {}, "t": {"a"}}, want: Deny},
		"equal to one without one":         {identity: one(all, `{"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"StringEqualsIgnoreCase": {"t": "${k}"}}}`), context: map[string][]string{"k": {}, "t": {"\uFFFD"}}, want: Allow},
		"a default":                        {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${k, '2026'}/*"}`), context: map[string][]string{"k": {}}, want: Allow},
		"a default that is not needed":     {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${k, '2026'}/*"}`), context: map[string][]string{"k": {"x"}}, want: None},
		"a star that is meant":             {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${*}"}`), want: None},
		"a variable of the old version":    {identity: `{"Version": "2008-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::uploads/${aws:username}/*"}]}`, context: map[string][]string{"aws:username": {"2026"}}, want: None},
		"a variable in a condition":        {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringLike": {"s3:prefix": "${aws:username}/*"}}}`), context: map[string][]string{"aws:username": {"u"}, "s3:prefix": {"u/a"}}, want: Allow},
		"no variable of a network":         {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"IpAddress": {"aws:SourceIp": "${k}"}}}`), context: map[string][]string{"aws:sourceip": {"10.0.0.1"}, "k": {"10.0.0.1"}}, want: None},
		"a condition that is open":         {identity: one(all), bucket: one(deny(`"Principal": "*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}`)), want: Unknown, at: "guard"},
		"a condition that is known": {identity: one(all), bucket: one(deny(`"Principal": "*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}`)),
			context: map[string][]string{"aws:securetransport": {"true"}}, want: Allow},
		"a network":                     {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "fd00::/8"]}}}`), context: map[string][]string{"aws:sourceip": {"10.3.4.5"}}, want: Allow},
		"another network":               {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}`), context: map[string][]string{"aws:sourceip": {"192.0.2.1"}}, want: None},
		"not equal of what is absent":   {identity: one(all), bucket: one(deny(`"Principal": "*", "Condition": {"StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"}}`)), context: map[string][]string{"s3:x-amz-server-side-encryption": {}}, want: Deny},
		"if it exists":                  {identity: one(all), bucket: one(deny(`"Principal": "*", "Condition": {"StringNotEqualsIfExists": {"k": "v"}}`)), context: map[string][]string{"k": {"v"}}, want: Allow},
		"an operator that is not known": {identity: one(`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"DateGreaterThan": {"aws:CurrentTime": "2026-01-01T00:00:00Z"}}}`), context: map[string][]string{"aws:currenttime": {"2026-02-01T00:00:00Z"}}, want: Unknown},
		"a session of a role":           {bucket: one(`{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:role/ci/deploy"}, "Action": "*", "Resource": "*"}`), principal: "arn:aws:sts::111122223333:assumed-role/deploy/s1", want: Unknown},
		"a policy without principal":    {bucket: one(all), want: None},
		"a service is no account":       {bucket: one(`{"Effect": "Allow", "Principal": {"Service": "cloudtrail.amazonaws.com"}, "Action": "*", "Resource": "*"}`), want: None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Principal: writer, Action: "s3:PutObject", Resource: object, Context: tc.context}
			if tc.principal != "" {
				r.Principal = tc.principal
			}
			var identity, bucket []Policy
			if tc.identity != "" {
				identity = parsed(t, tc.identity)
			}
			if tc.bucket != "" {
				bucket = parsed(t, tc.bucket)
			}
			d := Decide(r, identity, bucket)
			if d.Effect != tc.want || !strings.Contains(d.At, tc.at) || (d.Effect == Unknown) != (d.Why != "") {
				t.Errorf("Decide() = %+v, want %s by %q", d, tc.want, tc.at)
			}
		})
	}
}

// TestParseRefuses: what is not known could have decided.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON": `x`, "a list": `[]`, "no statement": `{"Version": "2012-10-17"}`, "an empty list": one(),
		"another effect": one(`{"Effect": "allow", "Action": "*"}`), "no action": one(`{"Effect": "Allow", "Resource": "*"}`),
		"both": one(`{"Effect": "Allow", "Action": "*", "NotAction": "*"}`), "a member that is not known": one(`{"Effect": "Allow", "Action": "*", "Unless": "*"}`),
		"a version": `{"Version": "2030-01-01", "Statement": []}`, "more": one(`{"Effect": "Allow", "Action": "*"}`) + `{}`,
		"a principal": one(`{"Effect": "Allow", "Action": "*", "Principal": "someone"}`), "a list in a list": one(`{"Effect": "Allow", "Action": [["*"]]}`),
	} {
		if p, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	p := parsed(t, `{"Statement": {"Effect": "Deny", "NotPrincipal": {"AWS": "x"}, "Action": "a:b", "Resource": "r"}}`)[0]
	if len(p.Statements) != 1 || !p.Statements[0].Inverted() {
		t.Errorf("a statement that stands alone: %+v", p)
	}
}

// FuzzParse: a document that parses decides, in any order of its statements alike, and one more Deny of everything denies.
func FuzzParse(f *testing.F) {
	for _, s := range []string{one(`{"Effect":"Allow","Action":"*","Resource":"*"}`), one(`{"Effect":"Deny","NotPrincipal":{"AWS":"x"},"NotAction":["s3:Get*"],"NotResource":"?","Condition":{"ForAllValues:StringLike":{"k":["*",true,1]}}}`),
		one(`{"Effect":"Deny","Action":"*","Resource":"${a, 'b'}${*}${","Condition":{"ArnLike":{"k":"${$}:${k}"}}}`), `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Parse(raw)
		if err != nil {
			return
		}
		r := Request{Principal: writer, Action: "s3:PutObject", Resource: object, Context: map[string][]string{"k": {"v"}, "a": {}, "aws:username": {"upload*er"}, "t": {"a", "b"}}}
		back := Policy{Statements: slices.Clone(p.Statements)}
		slices.Reverse(back.Statements)
		if a, b := Decide(r, nil, []Policy{p}), Decide(r, nil, []Policy{back}); a.Effect != b.Effect {
			t.Fatalf("%s: %s, and backwards %s", raw, a.Effect, b.Effect)
		}
		all := Policy{Statements: []Statement{{Deny: true, Principals: []string{"*"}, Actions: []string{"*"}}}}
		if d := Decide(r, []Policy{p}, []Policy{all}); d.Effect != Deny {
			t.Fatalf("%s and a deny of all: %s", raw, d.Effect)
		}
		if !json.Valid(raw) {
			t.Fatalf("%q parses, and is no JSON", raw)
		}
	})
}

// TestInverted: which statements deny all but those that they name, and whom they spare.
func TestInverted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"Effect":"Deny","NotPrincipal":{"AWS":"a"}`:                                                          "[a]",
		`"Effect":"Allow","NotPrincipal":{"AWS":"a"}`:                                                         "",
		`"Effect":"Deny","Principal":"*","Condition":{"StringNotEquals":{"aws:username":["a","b"]}}`:          "[a b]",
		`"Effect":"Deny","Principal":{"AWS":"*"},"Condition":{"ArnNotLikeIfExists":{"AWS:PrincipalArn":"a"}}`: "[a]",
		`"Effect":"Deny","Principal":"*","Condition":{"StringEquals":{"aws:username":"a"}}`:                   "",
		`"Effect":"Deny","Principal":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`:          "",
		`"Effect":"Deny","Principal":{"AWS":"b"},"Condition":{"StringNotEquals":{"aws:username":"a"}}`:        "",
		`"Effect":"Allow","Principal":"*","Condition":{"StringNotEquals":{"aws:username":"a"}}`:               "",
		`"Effect":"Deny","Principal":{"AWS":"a"}`:                                                             "",
	} {
		p, err := Parse([]byte(`{"Statement":{` + text + `,"Action":"s3:PutObject","Resource":"*"}}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		if s := p.Statements[0]; s.Inverted() {
			got = fmt.Sprint(s.Spares())
		}
		if got != want {
			t.Errorf("%s spares %q, want %q", text, got, want)
		}
	}
}

// TestWildcards: ? is one character, of however many bytes.
func TestWildcards(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{{"?", "\u00e4", true}, {"a*b?", "a\u00e4xbc", true}, {"a*b", "abc", false}, {"", "", true}, {"*", "", true}, {"?", "", false}, {"${*}", "x", false}} {
		if got := fits(tc.pattern, tc.text); got != tc.want {
			t.Errorf("%q on %q: %v", tc.pattern, tc.text, got)
		}
	}
}
