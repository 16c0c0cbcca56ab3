package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const fileAudit = "audit.log"

// AuditEvent is one request that reached the API server and was not a plain read. Requests of the servers themselves
// are not logged. A self-review is a create that persists nothing; Persists tells it apart.
type AuditEvent struct {
	ID          string
	Verb, User  string
	Group       string // API group, empty for core
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	UID         string // of the object, when the log knows it
	URI         string
	UserAgent   string
	Code        int
	Received    time.Time
	Completed   time.Time
	Request     json.RawMessage // bodies only of jobs and config maps
}

// Persists tells whether the request could change what is stored: it was not refused, no dry run and no review.
func (e AuditEvent) Persists() bool {
	reviews := []string{"authorization.k8s.io", "authentication.k8s.io"}
	return e.Code/100 == 2 && !slices.Contains(reviews, e.Group) && e.Subresource != "token" && !isDryRun(e.URI)
}

// AuditFilter selects events; empty fields select all.
type AuditFilter struct {
	User      string
	Namespace string
	Since     time.Time
}

func (f AuditFilter) admits(e AuditEvent) bool {
	return (f.User == "" || f.User == e.User) && (f.Namespace == "" || f.Namespace == e.Namespace) && !e.Received.Before(f.Since)
}

// AuditEvents returns what the log holds, oldest first. Every request that was answered before the call is there: a
// marker request of our own goes through the log first.
func (l *Lab) AuditEvents(ctx context.Context, f AuditFilter) ([]AuditEvent, error) {
	marker := "audit-marker-" + randomHex(6)
	review := object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": object{"nonResourceAttributes": object{"path": "/" + marker, "verb": "get"}}}
	// The log holds no body of a review, but its address.
	if err := l.client.do(ctx, http.MethodPost, selfReview+"?fieldManager="+marker, review, nil); err != nil {
		return nil, fmt.Errorf("reading the audit log of the lab: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the audit log of the lab is not being written"))
	defer cancel()
	var events []AuditEvent
	var err error
	if waited := poll(ctx, func() bool {
		var all []AuditEvent
		if all, err = readAudit(l.dir); err != nil {
			return true
		}
		events = all
		return slices.ContainsFunc(all, func(e AuditEvent) bool { return bytes.Contains([]byte(e.URI), []byte(marker)) })
	}); waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log of the lab: %w", err)
	}
	return slices.DeleteFunc(events, func(e AuditEvent) bool { return !f.admits(e) }), nil
}

// readAudit reads the log and what was rotated out of it, whose names sort before.
func readAudit(dir string) ([]AuditEvent, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "audit*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var events []AuditEvent
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		more, err := parseAudit(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		events = append(events, more...)
	}
	return events, nil
}

// parseAudit stops in front of a last line without its end: it is being written. Any other line must parse, since a
// silently dropped one would be a write that is not accounted for.
func parseAudit(r io.Reader) ([]AuditEvent, error) {
	var events []AuditEvent
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		e, final, err := parseAuditLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if final {
			events = append(events, e)
		}
	}
}

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
