package iam

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// pair is a policy of an identity and one of a bucket, with one request that they decide.
type pair struct {
	identity, bucket string // documents
	ask              ask
}

// ask is one request of S3.
type ask struct {
	action  string // s3:PutObject and so on
	key     string // of an object, "" for a list
	prefix  string // of a list, "" for none
	referer string
	user    string // who asks
	account string // of the user
	at      string // the bucket
}

func (a ask) resource() string {
	if a.key == "" {
		return "arn:aws:s3:::" + a.at
	}
	return "arn:aws:s3:::" + a.at + "/" + a.key
}

func (a ask) arn() string { return "arn:aws:iam::" + a.account + ":user/" + a.user }

// request is what AWS would evaluate: the keys that it sets for each request, and for a list.
func (a ask) request() Request {
	one := func(v string) []string {
		if v == "" {
			return []string{}
		}
		return []string{v}
	}
	return Request{Principal: a.arn(), Action: a.action, Resource: a.resource(), Context: map[string][]string{
		"aws:sourceip": {"127.0.0.1"}, "aws:securetransport": {"false"}, "aws:username": {a.user}, "aws:userid": {"AIDACKCEVSQ6C2EXAMPLE"}, "aws:principalarn": {a.arn()},
		"aws:useragent": {agent}, "aws:referer": one(a.referer), "s3:prefix": one(a.prefix), "s3:delimiter": {}, "s3:x-amz-acl": {}, "s3:x-amz-server-side-encryption": {},
	}}
}

const agent = "handrail-pairs"

// generator makes pairs from a seed: the same ones each time.
type generator struct{ *rand.Rand }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) once(in int) bool { return g.IntN(in) == 0 }

type element = map[string]any

// pair makes the request first, so that the policies are about it more often than not.
func (g generator) pair(user, account, bucket string) pair {
	a := ask{user: user, account: account, at: bucket, action: pick(g, "s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket", "s3:ListBucket"), referer: pick(g, "", "https://shop.example/cart")}
	if a.action == "s3:ListBucket" {
		a.prefix = pick(g, "", "logs/", "home/"+user+"/")
	} else {
		a.key = pick(g, "logs/1", "home/"+user+"/a", "home/other/a", "a b", "*/1")
	}
	p := pair{ask: a}
	var own, of []element
	for range pick(g, 1, 1, 1, 2, 2, 3) {
		own = append(own, g.identity(a, len(own) == 0))
	}
	for range 1 + g.IntN(2) {
		of = append(of, g.resource(a))
	}
	p.identity, p.bucket = document("2012-10-17", own), document(pick(g, "2012-10-17", "2012-10-17", "2012-10-17", "2008-10-17"), of)
	return p
}

func document(version string, statements []element) string {
	raw, err := json.Marshal(element{"Version": version, "Statement": statements})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// identity is a statement without a principal. The first one is an Allow more often, since nothing else would be decided without.
func (g generator) identity(a ask, first bool) element {
	s := element{"Effect": pick(g, "Allow", "Deny")}
	if first && !g.once(4) {
		s["Effect"] = "Allow"
	}
	actions := pick(g, []string{a.action}, []string{a.action}, []string{"s3:*"}, []string{"s3:PutObject", "s3:DeleteObject"}, []string{"s3:Get*"}, []string{"s3:*Object"}, []string{"s3:P?tObject"}, []string{"s3:ListBucket"})
	if g.once(40) {
		actions = []string{strings.ToLower(a.action)}
	}
	s[pick(g, "Action", "Action", "Action", "NotAction")] = actions
	bucket := "arn:aws:s3:::" + a.at
	resources := pick(g, []string{a.resource()}, []string{bucket, bucket + "/*"}, []string{bucket + "/*"}, []string{"arn:aws:s3:::*"}, []string{bucket + "/logs/*"},
		[]string{bucket + "/home/${aws:username}/*", bucket}, []string{bucket + "/l?gs/*"}, []string{bucket + "*"}, []string{"arn:aws:s3:::another/*"}, []string{"*"},
		[]string{bucket + "/${aws:Referer, 'logs'}/*"}, []string{bucket + "/home/${aws:username}/*"}, []string{bucket + "/${*}/*", bucket + "/home/*"})
	if g.once(25) {
		resources = []string{bucket + "/home/${aws:userid}/*"}
	}
	s[pick(g, "Resource", "Resource", "Resource", "Resource", "NotResource")] = resources
	if g.once(2) {
		s["Condition"] = g.condition(a, actions, true)
	}
	return s
}

// resource is a statement of a bucket. Its actions apply to its resources, as S3 wants it.
func (g generator) resource(a ask) element {
	bucket := "arn:aws:s3:::" + a.at
	s := element{"Effect": pick(g, "Allow", "Deny")}
	var actions []string
	switch g.IntN(4) {
	case 0:
		actions, s["Resource"] = []string{"s3:*"}, []string{bucket, bucket + "/*"}
	case 1:
		actions, s["Resource"] = []string{"s3:ListBucket"}, []string{bucket}
	default:
		actions = pick(g, []string{"s3:PutObject", "s3:GetObject", "s3:DeleteObject"}, []string{"s3:PutObject"}, []string{"s3:Get*"}, []string{"s3:*Object"})
		if a.key != "" && !g.once(3) {
			actions = []string{a.action}
		}
		s["Resource"] = pick(g, []string{bucket + "/*"}, []string{bucket + "/logs/*"}, []string{bucket + "/home/${aws:username}/*"}, []string{bucket + "/?ogs/*", bucket + "/home/*"})
	}
	s["Action"] = actions
	if g.once(7) {
		s["NotAction"] = pick(g, actions, []string{"s3:PutObject"}, []string{"s3:Get*"})
		delete(s, "Action")
	}
	if g.once(30) {
		s["NotResource"] = s["Resource"]
		delete(s, "Resource")
	}
	who := pick[any](g, "*", element{"AWS": "*"}, element{"AWS": a.arn()}, element{"AWS": []string{a.arn(), "arn:aws:iam::" + a.account + ":user/other"}},
		element{"AWS": "arn:aws:iam::" + a.account + ":user/other"}, element{"AWS": a.account}, element{"AWS": "arn:aws:iam::" + a.account + ":root"})
	if s["Effect"] == "Deny" && g.once(3) {
		s["NotPrincipal"] = element{"AWS": pick(g, []string{a.arn(), a.account}, []string{"arn:aws:iam::" + a.account + ":user/other", "arn:aws:iam::" + a.account + ":root"}, []string{a.arn()})}
	} else {
		s["Principal"] = who
	}
	if g.once(3) {
		s["Condition"] = g.condition(a, actions, false)
	}
	return s
}

// condition is one operator on a key that applies to the actions, sometimes two.
func (g generator) condition(a ask, actions []string, own bool) element {
	out := element{}
	for range pick(g, 1, 1, 1, 2) {
		operator, key, values := g.term(a, actions, own)
		out[operator] = element{key: values} // one of them where the operators are the same
	}
	return out
}

func (g generator) term(a ask, actions []string, own bool) (operator, key string, values any) {
	list := slices.Equal(actions, []string{"s3:ListBucket"}) || slices.Equal(actions, []string{"s3:*"})
	switch n := g.IntN(9); {
	case n == 0:
		return pick(g, "IpAddress", "NotIpAddress"), "aws:SourceIp", pick[any](g, "127.0.0.0/8", "10.0.0.0/8", "127.0.0.1", []string{"10.0.0.0/8", "127.0.0.1/32"}, "fd00::/8")
	case n == 1:
		return pick(g, "Bool", "Bool", "Bool", "Bool", "Bool", "BoolIfExists"), "aws:SecureTransport", pick(g, "true", "false")
	case n == 2:
		return "Null", pick(g, "aws:Referer", "aws:username"), pick(g, "true", "false")
	case n == 3:
		return pick(g, "StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEquals", "StringLike", "StringNotEqualsIfExists"), "aws:Referer", pick[any](g, "https://shop.example/cart", "https://shop.example/*", "*", []string{"https://other.example/", "https://shop.example/cart"})
	case n == 4 && (!own || g.once(4)):
		return pick(g, "ArnLike", "ArnEquals", "ArnNotLike"), "aws:PrincipalArn", pick(g, a.arn(), "arn:aws:iam::*:user/writer-*", "arn:aws:iam::"+a.account+":user/other", "arn:aws:iam::*:role/*")
	case n == 5 && list:
		return pick(g, "StringEquals", "StringNotEquals", "StringLike", "StringNotLike"), "s3:prefix", pick[any](g, "logs/", "home/${aws:username}/", []string{"", "logs/*"}, "*")
	case n == 6 && own && slices.Contains(actions, "s3:PutObject") && len(actions) == 1:
		return pick(g, "StringNotEquals", "StringEquals", "StringNotEqualsIgnoreCase"), "s3:x-amz-server-side-encryption", "AES256"
	case n == 7:
		return pick(g, "ForAnyValue:StringLike", "ForAllValues:StringEquals", "ForAllValues:StringLike"), pick(g, "aws:username", "aws:Referer"), pick[any](g, a.user, "*", []string{"other", "https://*"})
	}
	return pick(g, "StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase"), "aws:username",
		pick[any](g, a.user, "other", "writer-*", []string{"other", a.user}, "${aws:username}", strings.ToUpper(a.user), "wr${*}")
}

func (p pair) String() string {
	return fmt.Sprintf("%s %s prefix %q referer %q by %s\n  identity %s\n  bucket %s", p.ask.action, p.ask.resource(), p.ask.prefix, p.ask.referer, p.ask.user, p.identity, p.bucket)
}
