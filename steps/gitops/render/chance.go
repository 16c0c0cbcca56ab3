package render

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// round is one of two renderings. What chance, the clock or the order of a map would
// decide is another thing in each, and cheap: no key is made.
type round struct {
	n    int
	now  time.Time
	mark string          // a function that no chart can know the name of
	file string          // that is rendered
	asks map[string]bool // files that looked something up
}

// apart is far enough that no part of a date is the same in both rounds.
const apart = (11*365+5*30+13)*24*time.Hour + 7*time.Hour + 41*time.Minute + 17*time.Second

func newRound(now time.Time, n int) *round {
	return &round{n: n, now: now.Add(time.Duration(n) * apart), mark: "file" + rand.Text(), asks: map[string]bool{}}
}

// marked makes each template say which file is rendered. One that another one includes is
// rendered for that one, and says its name.
func marked(c *chart.Chart, mark string, done map[*common.File]bool) {
	for _, t := range c.Templates {
		if t != nil && !done[t] { // a chart under two names has its files once
			done[t] = true
			t.Data = append([]byte("{{"+mark+" .}}"), t.Data...)
		}
	}
	for _, below := range c.Dependencies() {
		marked(below, mark, done)
	}
}

// enters notes which file is rendered, where what it is given says so.
func (r *round) enters(with any) string {
	raw, _ := with.(map[string]any)
	if raw == nil {
		v, _ := with.(common.Values)
		raw = v
	}
	if v, ok := raw["Template"].(common.Values); ok {
		r.file, _ = v["Name"].(string)
	}
	return ""
}

// certificate is what the functions of certificates return.
type certificate struct{ Cert, Key string }

const (
	digits  = "12"
	letters = "ab"
)

func (r *round) text(of string, n int) (string, error) {
	if n < 0 || n > 1<<20 {
		return "", fmt.Errorf("%d characters by chance", n)
	}
	return strings.Repeat(of[r.n:r.n+1], n), nil
}

// by is a word for something that differs in each round.
func (r *round) by(what string) string { return fmt.Sprintf("%s-of-round-%d", what, r.n) }

func (r *round) certificate() (certificate, error) {
	return certificate{Cert: r.by("certificate"), Key: r.by("key")}, nil
}

// functions replace those of Helm that do not make the same of the same.
func (r *round) functions() template.FuncMap {
	letter := func(n int) (string, error) { return r.text(letters, n) }
	return template.FuncMap{
		r.mark: r.enters,
		"lookup": func(_, _, _, _ string) (map[string]any, error) {
			r.asks[r.file] = true
			return map[string]any{}, nil
		},
		"now":          func() time.Time { return r.now },
		"ago":          func(t any) string { at, _ := t.(time.Time); return r.now.Sub(at).Round(time.Second).String() },
		"randAlphaNum": letter, "randAlpha": letter, "randAscii": letter,
		"randNumeric": func(n int) (string, error) { return r.text(digits, n) },
		"randBytes": func(n int) (string, error) {
			text, err := r.text(letters, n)
			return base64.StdEncoding.EncodeToString([]byte(text)), err
		},
		"randInt": func(least, below int) (int, error) {
			if below <= least {
				return 0, fmt.Errorf("no number is from %d and below %d", least, below)
			}
			return []int{least, below - 1}[r.n], nil
		},
		"uuidv4":        func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", r.n) },
		"shuffle":       r.shuffled,
		"keys":          r.keys,
		"values":        r.values,
		"bcrypt":        func(string) string { return r.by("bcrypt") },
		"htpasswd":      func(user, _ string) string { return user + ":" + r.by("bcrypt") },
		"encryptAES":    func(_, _ string) (string, error) { return r.by("aes"), nil },
		"genPrivateKey": func(string) string { return r.by("key") },

		"genCA":                    func(string, int) (certificate, error) { return r.certificate() },
		"genCAWithKey":             func(string, int, string) (certificate, error) { return r.certificate() },
		"genSelfSignedCert":        func(string, []any, []any, int) (certificate, error) { return r.certificate() },
		"genSelfSignedCertWithKey": func(string, []any, []any, int, string) (certificate, error) { return r.certificate() },
		"genSignedCert":            func(string, []any, []any, int, certificate) (certificate, error) { return r.certificate() },
		"genSignedCertWithKey":     func(string, []any, []any, int, certificate, string) (certificate, error) { return r.certificate() },
		"buildCustomCert":          given,
	}
}

// given is a certificate that a chart is given, which is the same in each round.
func given(cert, key string) (certificate, error) {
	c, err := base64.StdEncoding.DecodeString(cert)
	if err != nil {
		return certificate{}, fmt.Errorf("the certificate is not in base64: %w", err)
	}
	k, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return certificate{}, fmt.Errorf("the key is not in base64: %w", err)
	}
	return certificate{Cert: string(c), Key: string(k)}, nil
}

func (r *round) shuffled(s string) string {
	of := []rune(s)
	slices.Sort(of)
	if r.n > 0 {
		slices.Reverse(of)
	}
	return string(of)
}

// keys are those of maps, which Helm returns in no order.
func (r *round) keys(of ...map[string]any) []string {
	var out []string
	for _, m := range of {
		out = append(out, slices.Sorted(maps.Keys(m))...)
	}
	if r.n > 0 {
		slices.Reverse(out)
	}
	return out
}

func (r *round) values(of map[string]any) []any {
	var out []any
	for _, k := range r.keys(of) {
		out = append(out, of[k])
	}
	return out
}

// alike reports whether two objects are the same as JSON.
func alike(a, b map[string]any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
