package catch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	// firstPause is how long we wait before a watch that broke is asked for again;
	// it doubles up to longestPause.
	firstPause   = 250 * time.Millisecond
	longestPause = 4 * time.Second
	// mostWatched bounds what one watch may send.
	mostWatched = 64 << 20
)

// watcher follows one object. What happens between two of its watches is not
// missed: each begins where the last one ended, and a server that no longer has
// that moment leaves a hole.
type watcher struct {
	c       *cluster.Client
	t       cluster.Target
	accept  string // cluster.AsMetadata or cluster.AsJSON
	version string // where the next watch begins
}

// snapshot is one state of the object. An absent one has no object.
type snapshot struct {
	cluster.Object
	absent bool
	at     time.Time
}

// begin reads the present state, from which to watch.
func (w *watcher) begin(ctx context.Context) (snapshot, error) {
	m, version, err := w.present(ctx)
	if err == nil {
		w.version = version
	}
	return m, err
}

// present reads the present state and its version.
func (w *watcher) present(ctx context.Context) (snapshot, string, error) {
	accept := w.accept
	if accept == cluster.AsMetadata {
		accept = cluster.AsMetaList
	}
	path := w.t.Path(w.t.Namespace, "")
	raw, err := w.c.Read(ctx, path, accept, w.query())
	if err != nil {
		return snapshot{}, "", err
	}
	var list struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil || list.Metadata.ResourceVersion == "" || len(list.Items) > 1 {
		return snapshot{}, "", fmt.Errorf("%s: the answer of %s is no list of one object", path, w.c.Server)
	}
	if len(list.Items) == 0 {
		return snapshot{absent: true, at: w.c.Env.Now()}, list.Metadata.ResourceVersion, nil
	}
	m, err := w.moment(list.Items[0])
	return m, list.Metadata.ResourceVersion, err
}

func (w *watcher) moment(raw []byte) (snapshot, error) {
	o, err := cluster.ParseObject(raw)
	if err != nil {
		return snapshot{}, fmt.Errorf("%s: what %s sends of it cannot be read: %w", w.t, w.c.Server, err)
	}
	if o.GetName() != w.t.Name || o.GetUID() == "" {
		return snapshot{}, fmt.Errorf("%s: %s sends something else than the object", w.t, w.c.Server)
	}
	o.Raw = nil
	return snapshot{Object: o, at: w.c.Env.Now()}, nil
}

func (w *watcher) query() url.Values {
	return url.Values{"fieldSelector": {"metadata.name=" + w.t.Name}}
}

// errHole says that the server no longer knows what happened since the last
// state that was seen.
var errHole = errors.New("the watch was cut, and the server no longer has what happened meanwhile")

// follow shows every state until ctx ends. It begins again where a watch ended or
// broke; an error is errHole, or that no watch may be had.
func (w *watcher) follow(ctx context.Context, see func(snapshot)) error {
	pause := firstPause
	for ctx.Err() == nil {
		seen, err := w.once(ctx, see)
		switch {
		case errors.Is(err, errHole), cluster.IsForbidden(err):
			return err
		case seen && err == nil:
			pause = firstPause
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
		pause = min(2*pause, longestPause)
	}
	return nil
}

// once watches until the stream ends. seen says that the server answered with a
// stream at all.
func (w *watcher) once(ctx context.Context, see func(snapshot)) (seen bool, err error) {
	path := w.t.Path(w.t.Namespace, "")
	query := w.query()
	query.Set("resourceVersion", w.version)
	if deadline, ok := ctx.Deadline(); ok {
		query.Set("timeoutSeconds", strconv.Itoa(int(time.Until(deadline).Seconds())+5))
	}
	body, err := w.c.Watch(ctx, path, w.accept, query)
	if err != nil {
		var expired *cluster.ExpiredError
		if errors.As(err, &expired) {
			return false, errHole
		}
		return false, err
	}
	defer body.Close()
	events := json.NewDecoder(&io.LimitedReader{R: body, N: mostWatched})
	for {
		var e struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) {
				return true, nil
			}
			return true, fmt.Errorf("watch of %s: %w: %w", w.t, io.ErrUnexpectedEOF, err)
		}
		if err := w.event(e.Type, e.Object, see); err != nil {
			return true, err
		}
	}
}

func (w *watcher) event(kind string, raw []byte, see func(snapshot)) error {
	if kind == "ERROR" {
		var s metav1.Status
		if json.Unmarshal(raw, &s) == nil && s.Code == http.StatusGone {
			return errHole
		}
		return fmt.Errorf("watch of %s: %w: %s says %q", w.t, io.ErrUnexpectedEOF, w.c.Server, steps.Clip(s.Message, 300))
	}
	if kind == "BOOKMARK" {
		var b metav1.PartialObjectMetadata
		if json.NewDecoder(bytes.NewReader(raw)).Decode(&b) == nil && b.ResourceVersion != "" {
			w.version = b.ResourceVersion
		}
		return nil
	}
	m, err := w.moment(raw)
	if err != nil {
		return err
	}
	w.version = m.GetResourceVersion()
	switch kind {
	case "ADDED", "MODIFIED":
	case "DELETED":
		m.absent = true
	default:
		return fmt.Errorf("watch of %s: %s sends an event %q", w.t, w.c.Server, steps.Clip(kind, 60))
	}
	see(m)
	return nil
}
