package transport

import "strings"

// target is what a path of the API names. Only the parsed form tells the
// subresource "proxy" from a namespace or an object of that name.
type target struct {
	api         bool // below /api or /apis; the rest are documents about the server
	group       string
	version     string
	namespace   string
	resource    string
	name        string
	subresource string
}

// parsePath reads a path as the API server does (its RequestInfo), but for the
// legacy forms, which it refuses.
func parsePath(path string) (t target, why string) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch parts[0] {
	case "api":
		t.api = true
		if len(parts) == 1 {
			return t, ""
		}
		t.version, parts = parts[1], parts[2:]
	case "apis":
		t.api = true
		if len(parts) > 1 {
			t.group = parts[1]
		}
		if len(parts) < 3 {
			return t, ""
		}
		t.version, parts = parts[2], parts[3:]
	case "version", "healthz", "livez", "readyz", "openapi", "metrics", ".well-known":
		return t, ""
	default:
		return t, "its path is not one of the Kubernetes API"
	}
	return parseResource(t, parts)
}

func parseResource(t target, parts []string) (target, string) {
	if len(parts) == 0 {
		return t, ""
	}
	if parts[0] == "watch" || parts[0] == "proxy" {
		return t, "it uses the legacy prefix " + parts[0]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !(len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")) {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	switch t.subresource {
	case "", "status", "scale", "log", "approval", "finalize", "resize":
	case "exec", "attach", "portforward", "proxy", "ephemeralcontainers", "token":
		return t, "the subresource " + t.subresource + " is more than a read"
	default:
		return t, "the subresource " + t.subresource + " is not known to be a read"
	}
	if len(parts) > 3 {
		return t, "its path goes on below a subresource"
	}
	return t, ""
}

// isReview reports whether path is one of the five reviews that store nothing
// (docs/decisions.md, Reviews).
func isReview(t target) bool {
	if !t.api || t.version != "v1" || t.name != "" {
		return false
	}
	switch t.group + "/" + t.resource {
	case "authorization.k8s.io/selfsubjectaccessreviews",
		"authorization.k8s.io/selfsubjectrulesreviews",
		"authorization.k8s.io/subjectaccessreviews",
		"authentication.k8s.io/selfsubjectreviews":
		return t.namespace == ""
	case "authorization.k8s.io/localsubjectaccessreviews":
		return t.namespace != ""
	}
	return false
}
