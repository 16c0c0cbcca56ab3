package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// rewrite says what a webhook changes in which requests.
type rewrite struct {
	Resource   string         `json:"resource"`
	Operations []string       `json:"operations"`
	Names      string         `json:"names"` // part of the name of the object; "" for all
	Set        map[string]any `json:"set"`   // JSON pointer to value
}

// review is what is read of an AdmissionReview.
type review struct {
	Request struct {
		UID       string `json:"uid"`
		Resource  struct{ Resource string }
		Name      string
		Namespace string
		Operation string
		Object    object
		DryRun    bool
		UserInfo  struct{ Username string }
	}
}

// serveWebhook answers until ctx ends. Each change that it makes is a line of
// rewrites.log.
func serveWebhook(ctx context.Context, dir string) error {
	var plan struct{ Rewrites []rewrite }
	if err := readPlan(dir, "webhook.json", &plan); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "rewrites.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	l, err := listen(dir)
	if err != nil {
		return err
	}
	var one sync.Mutex
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		var in review
		if err == nil {
			err = json.Unmarshal(raw, &in)
		}
		if err != nil || in.Request.UID == "" {
			http.Error(w, "this is no review", http.StatusBadRequest)
			return
		}
		answer, changed := admit(plan.Rewrites, in)
		if len(changed) > 0 {
			q := in.Request
			line, _ := json.Marshal(object{"at": time.Now().UTC().Format(time.RFC3339Nano), "operation": q.Operation,
				"object": q.Resource.Resource + " " + q.Namespace + "/" + name(q.Name, q.Object), "by": q.UserInfo.Username, "dry": q.DryRun, "changed": changed})
			one.Lock()
			_, _ = log.Write(append(line, '\n'))
			one.Unlock()
		}
		w.Header().Set("Content-Type", plainJSON)
		_ = json.NewEncoder(w).Encode(answer)
	})
	return serve(ctx, l, handler)
}

// admit allows everything, and changes what it is told to. It returns the pointers
// of what it changed.
func admit(rewrites []rewrite, in review) (answer object, changed []string) {
	q := in.Request
	var patch []object
	for _, r := range rewrites {
		if !r.matches(q.Resource.Resource, q.Operation, name(q.Name, q.Object)) {
			continue
		}
		for pointer, value := range r.Set {
			if same(at(q.Object, pointer), value) {
				continue
			}
			patch = append(patch, object{"op": "add", "path": pointer, "value": value})
			changed = append(changed, pointer)
		}
	}
	slices.Sort(changed)
	response := object{"uid": q.UID, "allowed": true}
	if len(patch) > 0 {
		raw, _ := json.Marshal(patch)
		response["patchType"], response["patch"] = "JSONPatch", raw
	}
	return object{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}, changed
}

// serve answers until ctx ends.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: oneRequest}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
