package lab

import (
	"bufio"
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
	"strings"
	"sync"
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
	log := auditLogOf(l.dir, l.record.Nonce)
	var events []AuditEvent
	var err error
	if waited := poll(ctx, func() bool {
		if events, err = log.read(); err != nil {
			return true
		}
		return slices.ContainsFunc(events, func(e AuditEvent) bool { return strings.Contains(e.URI, marker) })
	}); waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log of the lab: %w", err)
	}
	var admitted []AuditEvent
	for _, e := range events {
		if f.admits(e) {
			admitted = append(admitted, e)
		}
	}
	return admitted, nil
}

// auditLog is the audit log of one lab as far as this process has read it. The API server only appends to it, and it is
// asked for by every drill: what was parsed once is not parsed again.
type auditLog struct {
	dir string

	mu    sync.Mutex
	parts []*auditPart
}

// auditPart is a file of the log: the one that is written, or one that was rotated out of it under another name.
type auditPart struct {
	file   os.FileInfo
	read   int64 // bytes of whole lines
	events []AuditEvent
}

var auditLogs struct {
	mu sync.Mutex
	of map[[2]string]*auditLog
}

// auditLogOf is the log of the lab that was started with nonce in dir; the next one there begins a log of its own.
func auditLogOf(dir, nonce string) *auditLog {
	auditLogs.mu.Lock()
	defer auditLogs.mu.Unlock()
	key := [2]string{dir, nonce}
	if auditLogs.of == nil {
		auditLogs.of = map[[2]string]*auditLog{}
	}
	if auditLogs.of[key] == nil {
		auditLogs.of[key] = &auditLog{dir: dir}
	}
	return auditLogs.of[key]
}

// read reads what was appended and returns all events of the log and of what was rotated out of it, whose names sort
// before. The events are shared: they are not to be changed.
func (a *auditLog) read() ([]AuditEvent, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	paths, err := filepath.Glob(filepath.Join(a.dir, "audit*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var parts []*auditPart
	var events []AuditEvent
	for _, path := range paths {
		part, err := a.more(path)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		parts, events = append(parts, part), append(events, part.events...)
	}
	a.parts = parts
	return events, nil
}

// more reads what a file of the log has beyond what is known of it. One that became shorter is read anew.
func (a *auditLog) more(path string) (part *auditPart, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	part = &auditPart{}
	if i := slices.IndexFunc(a.parts, func(p *auditPart) bool { return os.SameFile(p.file, now) }); i >= 0 && a.parts[i].read <= now.Size() {
		part = a.parts[i]
	}
	part.file = now
	if _, err := f.Seek(part.read, io.SeekStart); err != nil {
		return nil, err
	}
	events, read, err := parseAudit(f)
	if err != nil {
		return nil, fmt.Errorf("behind byte %d: %w", part.read, err)
	}
	part.read, part.events = part.read+read, append(part.events, events...)
	return part, nil
}

// parseAudit stops in front of a last line without its end: it is being written. Any other line must parse, since a
// silently dropped one would be a write that is not accounted for.
func parseAudit(r io.Reader) (events []AuditEvent, read int64, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, read, nil
		}
		if err != nil {
			return nil, 0, err
		}
		e, final, err := parseAuditLine(line)
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		read += int64(len(line))
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
