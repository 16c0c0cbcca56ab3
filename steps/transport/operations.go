package transport

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// mostOperation is the longest body of a request that names an operation in it.
const mostOperation = 64 << 10

// Operations returns a transport for services of AWS whose reads are POST as well: each operation that may be asked stands in
// operations, by the target of the JSON protocols (CloudTrail_20131101.LookupEvents), by the action of the query protocol
// (Action=GetCallerIdentity) or by the path of the RPC protocol in CBOR (POST /service/NAME/operation/NAME); nothing else passes
// ("AWS JSON protocol", X-Amz-Target, "AWS query protocol", Action, and "Smithy RPC v2 CBOR protocol", in the specification of Smithy).
func Operations(next http.RoundTripper, server string, operations []string, opts ...Option) http.RoundTripper {
	only := "only " + strings.Join(operations, " and ") + " may be asked"
	return newReader(next, server, opts, func(req *http.Request, path string) string {
		if req.Method != http.MethodPost || path != "/" && !slices.Contains(operations, "POST "+path) || req.URL.RawQuery != "" {
			return "it is no request that names an operation"
		}
		// Walked and not looked up: a map may hold names in any case.
		var targets, media []string
		for name, values := range req.Header {
			switch {
			case strings.EqualFold(name, "X-Amz-Target"):
				targets = append(targets, values...)
			case strings.EqualFold(name, "Content-Type"):
				media = append(media, values...)
			}
		}
		if path != "/" {
			if len(media) != 1 || media[0] != "application/cbor" || len(targets) > 0 {
				return "its path and its body are of two protocols"
			}
			return ""
		}
		if len(targets) > 0 {
			// A service of the query protocol would read its form instead.
			if len(media) != 1 || !strings.HasPrefix(media[0], "application/x-amz-json-") {
				return "its target and its body are of two protocols"
			}
			if len(targets) != 1 || !slices.Contains(operations, targets[0]) {
				return only
			}
			return ""
		}
		action, why := actionOf(req)
		if why == "" && !slices.Contains(operations, action) {
			why = only
		}
		return why
	})
}

// actionOf reads Action=NAME out of the form that a request brings, and leaves the request as it was.
func actionOf(req *http.Request) (action, why string) {
	if req.Body == nil {
		return "", "it names no operation"
	}
	raw, err := io.ReadAll(io.LimitReader(req.Body, mostOperation+1))
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(raw))
	if err != nil || len(raw) > mostOperation {
		return "", "its body cannot be read, or is too long"
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return "", "its form cannot be read"
	}
	// A reader of forms that takes names in any case must find the same one.
	for name, values := range form {
		if strings.EqualFold(name, "Action") {
			if name != "Action" || len(values) != 1 || action != "" {
				return "", "it names more than one operation"
			}
			action = "Action=" + values[0]
		}
	}
	if action == "" {
		return "", "it names no operation"
	}
	return action, ""
}
