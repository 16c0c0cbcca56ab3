package sig

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/corpus"
	"handrail/evidence/sig/sigtest"
)

func keyLine(t testing.TB, who string) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sigtest.Key(t, who).PublicKey())))
}

func TestSigners(t *testing.T) {
	t.Parallel()
	key := keyLine(t, "alice")
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, text string
		who        string // a principal who must be allowed
		refused    bool   // the key is named and may not
		unknown    bool
	}{
		{name: "plain", text: "alice@example.com " + key, who: "alice@example.com"},
		{name: "comment and blank lines", text: "# us\n\n\talice " + key + " her laptop\r\n", who: "alice"},
		{name: "several principals", text: "bob,alice " + key, who: "alice"},
		{name: "quoted principals", text: `"bob,alice" ` + key, who: "alice"},
		{name: "pattern", text: "*@example.com " + key, who: "anybody@example.com"},
		{name: "refusal in a pattern", text: "*@example.com,!root@example.com " + key, who: "a@example.com"},
		{name: "namespace", text: "alice namespaces=\"" + SealNamespace + "\" " + key, who: "alice"},
		{name: "namespace without quotes", text: "alice namespaces=" + SealNamespace + " " + key, who: "alice"},
		{name: "namespace pattern", text: `alice namespaces="git,seal-*" ` + key, who: "alice"},
		{name: "other namespace", text: `alice namespaces="git" ` + key, refused: true},
		{name: "refused namespace", text: `alice namespaces="*,!seal-v1@handrail" ` + key, refused: true},
		{name: "in time", text: `alice valid-after="20261121Z",valid-before="202611210300Z" ` + key, who: "alice"},
		{name: "too early", text: `alice valid-after="20261121021401Z" ` + key, refused: true},
		{name: "at its end", text: `alice valid-before="20261121021400Z" ` + key, refused: true},
		{name: "option in capitals", text: `alice Namespaces="git" ` + key, refused: true},
		{name: "authority", text: "*@example.com cert-authority " + key, unknown: true},
		{name: "another signer", text: "bob " + keyLine(t, "bob"), unknown: true},
		{name: "no signer", text: "", unknown: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSigners([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			p := s.Judge(sigtest.Key(t, "alice").PublicKey(), at)
			if tc.unknown != !p.Known || tc.refused != (p.Known && len(p.Who) == 0) || tc.refused != (p.Refused != "") {
				t.Fatalf("judge = %+v", p)
			}
			if tc.who != "" && (len(p.Who) == 0 || !MatchPatterns(p.Who[0], tc.who)) {
				t.Errorf("judge = %+v, want %q", p, tc.who)
			}
		})
	}
}

func TestSignersRefuse(t *testing.T) {
	t.Parallel()
	key := keyLine(t, "alice")
	typ, data, _ := strings.Cut(key, " ")
	for name, text := range map[string]string{
		"no key":                "alice",
		"no key data":           "alice " + typ,
		"no principals":         key,
		"option not known":      "alice verify-required " + key,
		"option twice":          `alice namespaces="a",namespaces="b" ` + key,
		"option without end":    `alice namespaces="a ` + key,
		"text after value":      `alice namespaces="a"b ` + key,
		"trailing comma":        "alice cert-authority, " + key,
		"empty namespaces":      `alice namespaces="" ` + key,
		"empty principal":       "alice,, " + key,
		"lone refusal":          "! " + key,
		"bad time":              `alice valid-after="tomorrow" ` + key,
		"impossible time":       `alice valid-after="20261301Z" ` + key,
		"time turned round":     `alice valid-after="20270101Z",valid-before="20260101Z" ` + key,
		"key of another type":   "alice ecdsa-sha2-nistp256 " + data,
		"key cut":               "alice " + key[:len(key)-4],
		"key in another form":   "alice " + typ + " " + data[:20] + "\u00a0" + data[20:],
		"unknown key type":      "alice ssh-dss AAAA",
		"control character":     "al\x07ice " + key,
		"a good line, then bad": "alice " + key + "\nbob",
	} {
		if s, err := ParseSigners([]byte(text)); err == nil {
			t.Errorf("%s: taken: %+v", name, s.rows)
		} else if !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: the error names no line: %v", name, err)
		}
	}
	if _, err := LoadSigners(t.TempDir() + "/none"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		list, s string
		want    bool
	}{
		{"*", "", true}, {"a*", "abc/def", true}, {"?", "a", true}, {"?", "", false}, {"[ab]", "a", false}, {"[ab]", "[ab]", true},
		{`\*`, `\x`, true}, {"a,b", "b", true}, {"!a", "b", false}, {"*,!b", "b", false}, {"!b,*", "a", true}, {"A", "a", false}, {"a/b", "a/b", true},
	} {
		if got := MatchPatterns(tc.list, tc.s); got != tc.want {
			t.Errorf("matchPatterns(%q, %q) = %v", tc.list, tc.s, got)
		}
	}
}

func FuzzSigners(f *testing.F) {
	corpus.Seed(f)
	key := keyLine(f, "alice")
	for _, s := range []string{"alice " + key, `"a,b" namespaces="x,y",valid-after="20260101Z" ` + key, "# x\n\n* cert-authority " + key, `a b="c`, "a,! " + key} {
		f.Add([]byte(s))
	}
	pub := sigtest.Key(f, "alice").PublicKey()
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseSigners(raw)
		if err != nil {
			return
		}
		p := s.Judge(pub, time.Unix(1_790_000_000, 0))
		if len(p.Who) > 0 && !strings.Contains(string(raw), strings.Fields(key)[1]) {
			t.Fatalf("allows a key that the file does not hold: %q", raw)
		}
		for _, who := range p.Who {
			MatchPatterns(who, "alice@example.com")
		}
	})
}

func FuzzSignature(f *testing.F) {
	corpus.Seed(f)
	for _, who := range []string{"alice", "bob", "carol"} {
		f.Add(sigtest.Sign(f, sigtest.Key(f, who), SealNamespace, []byte("text\n")))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseSignature(raw)
		if err != nil {
			return
		}
		again := armourSig(packSig(s.Key, s.namespace, s.hash, &s.sig))
		if string(again) != string(raw) {
			t.Fatalf("%q reads as %q", raw, again)
		}
		_ = s.Verify([]byte("text\n"))
	})
}
