package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
)

var (
	unsigned    = fault{http.StatusForbidden, "AccessDenied", "Access Denied."}
	unknownKey  = fault{http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."}
	wrongSecret = fault{http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method."}
	wrongBody   = fault{http.StatusBadRequest, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed."}
)

// signed reads the body of a request and says whose it is. The signature is version 4 of AWS, in
// the header, over a body whose hash it holds.
func (s *server) signed(r *http.Request) (who string, body []byte, err error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "", nil, unsigned
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[key] = value
	}
	access, scope, _ := strings.Cut(fields["Credential"], "/")
	a, ok := s.keys[access]
	if !ok {
		return "", nil, unknownKey
	}
	hash := r.Header.Get("X-Amz-Content-Sha256")
	names := strings.Split(fields["SignedHeaders"], ";")
	place := strings.Split(scope, "/")
	if len(place) != 4 || !slices.Contains(names, "host") {
		return "", nil, wrongSecret
	}
	key := []byte("AWS4" + a.secret)
	for _, part := range place {
		key = mac(key, part)
	}
	canonical := sha256.Sum256([]byte(canonicalForm(r, names, hash)))
	want := mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+hex.EncodeToString(canonical[:]))
	if got, err := hex.DecodeString(fields["Signature"]); err != nil || !hmac.Equal(got, want) {
		return "", nil, wrongSecret
	}
	if body, err = io.ReadAll(r.Body); err != nil {
		return a.name, nil, fault{http.StatusBadRequest, "IncompleteBody", err.Error()}
	}
	if sum := sha256.Sum256(body); hash != hex.EncodeToString(sum[:]) {
		return a.name, nil, wrongBody
	}
	return a.name, body, nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text) // it never fails
	return h.Sum(nil)
}

// canonicalForm is what a request is signed as.
func canonicalForm(r *http.Request, names []string, hash string) string {
	var out strings.Builder
	out.WriteString(r.Method + "\n" + r.URL.EscapedPath() + "\n" + strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20") + "\n")
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		out.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	out.WriteString("\n" + strings.Join(names, ";") + "\n" + hash)
	return out.String()
}
