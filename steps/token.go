package steps

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TokenHeader is what the header of a JSON Web Token says of how it is signed (RFC 7515,
// section 4.1). It is no secret; the rest of the token is.
type TokenHeader struct {
	Alg string
	Kid string // "" where the header names no key
}

// String are the words that stand for a token wherever one is given. [ParseTokenHeader] reads
// them too.
func (h TokenHeader) String() string {
	if h.Kid == "" {
		return "alg=" + h.Alg
	}
	return "alg=" + h.Alg + " kid=" + h.Kid
}

// TokenWords is the grammar of those words.
const TokenWords = `alg=[A-Za-z0-9-]{1,32}( kid=[A-Za-z0-9._:/+=@~-]{1,200})?`

var (
	// tokenForm is a token as it stands in a text: a header of JSON, a payload, mostly a signature.
	tokenForm   = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*`)
	tokenWords  = regexp.MustCompile(`^` + TokenWords + `$`)
	tokenHeader = regexp.MustCompile(`^eyJ[A-Za-z0-9_-]+$`)
)

// errNoToken says that a text holds no token.
var errNoToken = errors.New("it holds no JSON Web Token: three parts with dots between them, the first of which begins with eyJ")

// ParseTokenHeader finds the one token of a text and decodes its header, nothing else of it.
// tell is given the token and each part of it behind the header, to keep them from the disk and
// the screen; it may be nil. The text may also be the header alone, or its words.
func ParseTokenHeader(text string, tell func(secret string)) (TokenHeader, error) {
	text = strings.TrimSpace(text)
	if isWords(text) {
		alg, kid, _ := strings.Cut(text, " ")
		return TokenHeader{Alg: strings.TrimPrefix(alg, "alg="), Kid: strings.TrimPrefix(kid, "kid=")}, nil
	}
	found := tokenForm.FindAllString(text, -1)
	for _, token := range found {
		TellToken(token, tell)
	}
	switch {
	case len(found) > 1:
		return TokenHeader{}, fmt.Errorf("it holds %d tokens: leave the one that was issued now", len(found))
	case len(found) == 1:
		head, _, _ := strings.Cut(found[0], ".")
		return decodeHeader(head)
	case tokenHeader.MatchString(text):
		return decodeHeader(text)
	}
	return TokenHeader{}, errNoToken
}

// isWords reports whether a text is the words of a header. A key that looks like a token is none.
func isWords(text string) bool { return tokenWords.MatchString(text) && !tokenForm.MatchString(text) }

// decodeHeader reads a header. An error of it holds nothing of the text.
func decodeHeader(part string) (TokenHeader, error) {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return TokenHeader{}, errors.New("the header of the token is not base64url")
	}
	var in struct {
		Alg *string `json:"alg"`
		Kid *string `json:"kid"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.Alg == nil {
		return TokenHeader{}, errors.New("the header of the token names no algorithm")
	}
	h := TokenHeader{Alg: *in.Alg}
	if in.Kid != nil {
		h.Kid = *in.Kid
	}
	if !isWords(h.String()) {
		return TokenHeader{}, errors.New("the header of the token has an algorithm or a key of a form that is not known")
	}
	return h, nil
}

// WithoutTokens puts the words of its header in the place of each token in a text, so that what a
// person pastes holds none. What has no header that can be read is taken out.
func WithoutTokens(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	return tokenForm.ReplaceAllStringFunc(text, func(token string) string {
		head, _, _ := strings.Cut(token, ".")
		h, err := decodeHeader(head)
		if err != nil {
			return "(a token)"
		}
		return h.String()
	})
}

// TellToken gives tell a token and each part of it that is no header, to keep them from the disk
// and the screen.
func TellToken(token string, tell func(secret string)) {
	_, rest, _ := strings.Cut(token, ".")
	for _, secret := range append(strings.Split(rest, "."), rest, token) {
		if tell != nil && len(secret) >= 8 {
			tell(secret)
		}
	}
}

// TokenClaims is the payload of a token (RFC 7519, section 4): what it says, without the signature
// that makes it worth anything.
type TokenClaims struct {
	Names   []string  // of its claims, in order
	Client  string    // that it was issued to (azp), "" where it does not say
	Issuer  string    // the realm that issued it
	Issued  time.Time // zero where it does not say
	Expires time.Time
	Aud     []string
	roles   map[string][]string // by the client whose they are, "" for those of the realm
}

// HasRole reports whether it has a role of the realm (realm_access), or of a client (resource_access).
func (c TokenClaims) HasRole(client, role string) bool { return slices.Contains(c.roles[client], role) }

// ParseTokenClaims finds the one token of a text and decodes its payload. tell is given what
// [TellToken] tells. The values of claims are left: they say who someone is.
func ParseTokenClaims(text string, tell func(secret string)) (TokenClaims, error) {
	found := tokenForm.FindAllString(text, -1)
	for _, token := range found {
		TellToken(token, tell)
	}
	switch {
	case len(found) == 0:
		return TokenClaims{}, errNoToken
	case len(found) > 1:
		return TokenClaims{}, fmt.Errorf("it holds %d tokens: leave the access token that was issued now", len(found))
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(found[0], ".")[1])
	if err != nil {
		return TokenClaims{}, errors.New("the payload of the token is not base64url")
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil || in == nil {
		return TokenClaims{}, errors.New("the payload of the token is no JSON object; an opaque or an encrypted token says nothing here")
	}
	c := TokenClaims{Names: slices.Sorted(maps.Keys(in)), Issued: numericDate(in["iat"]), Expires: numericDate(in["exp"])}
	_ = json.Unmarshal(in["azp"], &c.Client) // absent, or of another form: it does not say
	_ = json.Unmarshal(in["iss"], &c.Issuer)
	var one string
	if json.Unmarshal(in["aud"], &c.Aud) != nil && json.Unmarshal(in["aud"], &one) == nil {
		c.Aud = []string{one}
	}
	c.roles = map[string][]string{}
	type access struct{ Roles []string }
	var ofRealm access
	ofClients := map[string]access{}
	_ = json.Unmarshal(in["resource_access"], &ofClients)
	_ = json.Unmarshal(in["realm_access"], &ofRealm)
	for client, of := range ofClients {
		c.roles[client] = of.Roles
	}
	c.roles[""] = ofRealm.Roles
	return c, nil
}

func numericDate(raw json.RawMessage) time.Time {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}
