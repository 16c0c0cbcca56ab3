package lab

import (
	"encoding/json"
	"net/url"
	"time"
)

// auditLine is what we read of audit.k8s.io/v1 Event.
type auditLine struct {
	AuditID    string
	Stage      string
	RequestURI string
	Verb       string
	UserAgent  string
	User       struct{ Username string }
	ObjectRef  struct{ Resource, Namespace, Name, UID, APIGroup, Subresource string }

	ResponseStatus           struct{ Code int }
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
	RequestObject            json.RawMessage
}

// parseAuditLine reports besides whether this is the last word on the request: a long answer has a stage before.
func parseAuditLine(raw []byte) (e AuditEvent, final bool, err error) {
	var l auditLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return e, false, err
	}
	e = AuditEvent{
		ID: l.AuditID, Verb: l.Verb, User: l.User.Username, URI: l.RequestURI, UserAgent: l.UserAgent,
		Group: l.ObjectRef.APIGroup, Resource: l.ObjectRef.Resource, Subresource: l.ObjectRef.Subresource,
		Namespace: l.ObjectRef.Namespace, Name: l.ObjectRef.Name, UID: l.ObjectRef.UID,
		Code: l.ResponseStatus.Code, Received: l.RequestReceivedTimestamp, Completed: l.StageTimestamp, Request: l.RequestObject,
	}
	return e, l.Stage == "ResponseComplete" || l.Stage == "Panic", nil
}

func isDryRun(uri string) bool {
	u, err := url.ParseRequestURI(uri)
	return err == nil && u.Query().Get("dryRun") == "All"
}
