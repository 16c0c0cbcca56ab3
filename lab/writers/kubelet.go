package main

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP implements http.Handler: the part of a kubelet that the API server
// asks for logs. Everything else it refuses.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodGet || len(parts) != 4 || parts[0] != "containerLogs" || parts[1] != n.Namespace {
		http.Error(w, "this node serves logs and nothing else", http.StatusNotImplemented)
		return
	}
	q := r.URL.Query()
	j, found := n.journal(parts[2], parts[3], q.Get("previous") == "true")
	if !found {
		http.Error(w, "container \""+parts[3]+"\" in pod \""+parts[2]+"\" is not found", http.StatusNotFound)
		return
	}
	if j == nil {
		http.Error(w, "previous terminated container \""+parts[3]+"\" in pod \""+parts[2]+"\" not found", http.StatusBadRequest)
		return
	}
	tail, err := strconv.Atoi(q.Get("tailLines"))
	if err != nil {
		tail = -1
	}
	var since time.Time
	if s, err := strconv.Atoi(q.Get("sinceSeconds")); err == nil {
		since = time.Now().Add(-time.Duration(s) * time.Second)
	}
	text := j.tail(tail, q.Get("timestamps") == "true", since)
	if limit, err := strconv.Atoi(q.Get("limitBytes")); err == nil && limit < len(text) {
		text = text[:max(0, limit)]
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, text)
}

// journal is what a container of a Pod said, nil where there is no such run.
func (n *node) journal(podName, name string, previous bool) (*journal, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.pods {
		if r.pod.Metadata.Name != podName {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, b := range r.boxes {
			if b.container.Name != name {
				continue
			}
			switch {
			case previous && b.last == nil:
				return nil, true
			case previous && (b.runs || b.ended):
				return b.beforeNow, true
			case b.journal == nil:
				return &journal{}, true
			}
			return b.journal, true // while it waits, its last run is both
		}
	}
	return nil, false
}
