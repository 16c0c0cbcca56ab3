package steps

import (
	"encoding/base64"
	"strings"
	"testing"
)

// tokenOf is a token of a header, with a payload and a signature that no text may show.
func tokenOf(header string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + ".c2VjcmV0LXBheWxvYWQtODE3MjM.c2lnbmF0dXJlLTU1MTE5"
}

// TestTokenHeader: of a token its header alone is read, whatever it stands in, and the rest is
// told as secret.
func TestTokenHeader(t *testing.T) {
	t.Parallel()
	rs := tokenOf(`{"alg":"RS256","kid":"key-7","typ":"JWT"}`)
	head, _, _ := strings.Cut(rs, ".")
	for name, of := range map[string]struct{ text, want, wrong string }{
		"plain":           {rs + "\n", "alg=RS256 kid=key-7", ""},
		"a header line":   {"Authorization: Bearer " + rs, "alg=RS256 kid=key-7", ""},
		"an answer":       {`{"access_token":"` + rs + `","expires_in":300}`, "alg=RS256 kid=key-7", ""},
		"the header only": {head, "alg=RS256 kid=key-7", ""},
		"words":           {"alg=ES256 kid=a/b:c", "alg=ES256 kid=a/b:c", ""},
		"no kid":          {tokenOf(`{"alg":"HS256"}`), "alg=HS256", ""},
		"words, no kid":   {"alg=none", "alg=none", ""},
		"two":             {rs + " " + tokenOf(`{"alg":"HS256"}`), "", "holds 2 tokens"},
		"none":            {"not a token", "", "no JSON Web Token"},
		"empty":           {"", "", "no JSON Web Token"},
		"no alg":          {tokenOf(`{"kid":"key-7"}`), "", "names no algorithm"},
		"alg is a list":   {tokenOf(`{"alg":["RS256"]}`), "", "names no algorithm"},
		"a strange kid":   {tokenOf(`{"alg":"RS256","kid":"a\nb"}`), "", "a form that is not known"},
		"a long kid":      {tokenOf(`{"alg":"RS256","kid":"` + strings.Repeat("k", 300) + `"}`), "", "a form that is not known"},
		"not base64url":   {"eyJ=.aaaaaaaa.b", "", "no JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			h, err := ParseTokenHeader(of.text, func(s string) { told = append(told, s) })
			switch {
			case of.wrong != "" && (err == nil || !strings.Contains(err.Error(), of.wrong)):
				t.Errorf("%v, want an error with %q", err, of.wrong)
			case of.wrong == "" && (err != nil || h.String() != of.want):
				t.Errorf("%s, %v, want %s", h, err, of.want)
			case err != nil && strings.Contains(err.Error(), "c2Vj"):
				t.Errorf("the error holds the token: %v", err)
			}
			if strings.Contains(of.text, "c2VjcmV0") && !strings.Contains(strings.Join(told, " "), "c2VjcmV0LXBheWxvYWQtODE3MjM.c2lnbmF0dXJlLTU1MTE5") {
				t.Errorf("the rest of the token is not told as secret: %q", told)
			}
		})
	}
}

// TestWithoutTokens: what is pasted keeps its words and loses its tokens.
func TestWithoutTokens(t *testing.T) {
	t.Parallel()
	rs := tokenOf(`{"alg":"RS256","kid":"key-7"}`)
	for text, want := range map[string]string{
		"no token here":               "no token here",
		"> Authorization: " + rs:      "> Authorization: alg=RS256 kid=key-7",
		"a " + rs + ", b " + rs:       "a alg=RS256 kid=key-7, b alg=RS256 kid=key-7",
		"x " + tokenOf(`{"a":1}`):     "x (a token)",
		"an approval eyJhIjoxfQ only": "an approval eyJhIjoxfQ only",
	} {
		if got := WithoutTokens(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzTokenHeader: whatever is read is words that read back the same, and no text keeps a token.
func FuzzTokenHeader(f *testing.F) {
	f.Add(tokenOf(`{"alg":"RS256","kid":"key-7"}`))
	f.Add("alg=none")
	f.Add("eyJ.eyJ.eyJhbGciOiJub25lIn0.a.b")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := ParseTokenHeader(text, nil); err == nil {
			again, err := ParseTokenHeader(h.String(), nil)
			if err != nil || again != h {
				t.Errorf("%q reads as %q, and that as %q, %v", text, h, again, err)
			}
		}
		if left := tokenForm.FindString(WithoutTokens(text)); left != "" {
			t.Errorf("%q keeps %q", text, left)
		}
	})
}
