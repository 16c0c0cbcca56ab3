package act

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/kube/report"
)

// Said is what the server answered, in its own words.
func (a Answer) Said() string {
	var s metav1.Status
	if json.Unmarshal(a.Body, &s) == nil && s.Message != "" {
		return steps.Clip(s.Message, 600)
	}
	return steps.Clip(string(a.Body), 300)
}

// Warned is what the server said beside its answer.
func (a Answer) Warned() []steps.KV {
	var kvs []steps.KV
	for _, w := range a.warnings {
		kvs = append(kvs, steps.KV{Key: "the server warns", Value: steps.Clip(w, 300)})
	}
	return kvs
}

// Cure says what to do about a rehearsal that was refused.
func (a Answer) Cure(r Request) string {
	switch a.Code {
	case http.StatusForbidden:
		return "ask for the right to " + verbOf(r.Method) + " it, or ask someone who has it"
	case http.StatusUnauthorized:
		return "sign in again"
	case http.StatusTooManyRequests:
		return "wait a little, then preview again"
	}
	return "read the server's words; an admission webhook or a policy may stand behind them"
}

func verbOf(method string) string {
	switch method {
	case http.MethodDelete:
		return "delete"
	case http.MethodPost:
		return "create"
	}
	return "patch"
}

// Object reads the answer as an object, ok false for a Status.
func (a Answer) Object() (metav1.PartialObjectMetadata, bool, error) {
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(a.Body, &m); err != nil {
		return m, false, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	return m, m.Kind != "Status" && m.UID != "", nil
}

// answersOrder reports whether the answer is the API server's own, on the object of an
// order; a delete may be answered with a Status, which names what went by its UID.
func answersOrder(a Answer, o Order) bool {
	m, is, err := a.Object()
	if err != nil {
		return false
	}
	if o.UID == report.Nothing { // what is made has a UID from then on
		return is && strings.HasSuffix(o.Path, "/"+m.Name)
	}
	return is && string(m.UID) == o.UID || o.Finalizer == "" && len(o.Ops) == 0 && a.wentBy(o.UID)
}

// wentBy reports whether the answer is the Status of the deletion of an object.
func (a Answer) wentBy(uid string) bool {
	var s metav1.Status
	return json.Unmarshal(a.Body, &s) == nil && s.Kind == "Status" && s.Status == metav1.StatusSuccess && s.Details != nil && string(s.Details.UID) == uid
}
