package object

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"handrail/steps/cluster"
)

// ContentSum is a hash of what is wanted of an object: the whole without
// status, managedFields and resourceVersion, as JSON with sorted keys. It does
// not change while controllers report on the object.
//
// A hash of short values can be guessed, so those of a Secret are left out; its
// resourceVersion stands for them, and any write changes the hash.
func ContentSum(o cluster.Object, r cluster.Resource) (string, error) {
	whole := maps.Clone(o.Object)
	delete(whole, "status")
	if before, ok := whole["metadata"].(map[string]any); ok {
		md := maps.Clone(before)
		delete(md, "managedFields")
		if IsSecret(r) {
			if notes, ok := md["annotations"].(map[string]any); ok {
				notes = maps.Clone(notes)
				delete(notes, LastApplied)
				delete(notes, DataHash)
				md["annotations"] = notes
			}
		} else {
			delete(md, "resourceVersion")
		}
		whole["metadata"] = md
	}
	if IsSecret(r) {
		for key := range whole {
			if strings.EqualFold(key, "data") || strings.EqualFold(key, "stringData") {
				delete(whole, key)
			}
		}
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return "", fmt.Errorf("content of the object: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// IsSecret reports whether objects of a resource hold values that are never shown.
func IsSecret(r cluster.Resource) bool { return r.Group == "" && r.Kind == "Secret" }

// LastApplied repeats the whole object, for a Secret with its values.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// DataHash is a plain hash of the values of a Secret, which External Secrets keeps beside them
// (external-secrets, pkg/controllers/externalsecret): short values can be guessed by it.
const DataHash = "reconcile.external-secrets.io/data-hash"
