package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// await returns once the lab can be used, and makes l usable. It is safe to run again on a lab that is ready, so it
// also finishes what a killed starter left undone. ended may be nil: then the lock tells that the supervisor is gone.
func (l *Lab) await(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		done, err := l.look(ctx)
		if done {
			return err
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("%w (last answer: %v)", context.Cause(ctx), last)
			}
			return context.Cause(ctx)
		case <-ended:
			return l.obituary()
		case <-tick.C:
			if ended == nil && !supervised(l.dir) {
				return l.obituary()
			}
		}
	}
}

// look asks once. done means that asking again is of no use.
func (l *Lab) look(ctx context.Context) (done bool, err error) {
	var s state
	if err := read(l.dir, fileState, &s); err != nil {
		return true, err
	}
	if s.Phase == phaseStopping || s.Phase == phaseFailed {
		return true, l.obituary()
	}
	if err := read(l.dir, fileRecord, &l.record); err != nil {
		return true, err
	}
	if s.Phase != phaseRunning || s.Nonce != l.record.Nonce {
		return false, nil
	}
	for _, p := range s.Processes {
		if !p.runs(s.BootID) {
			return false, fmt.Errorf("%s ended", p.Name) // the supervisor is about to notice
		}
	}
	if err := l.connect(); err != nil {
		return false, err
	}
	if err := l.identify(ctx); err != nil {
		return false, err
	}
	return true, nil
}

// connect makes the admin client from the files of the data directory.
func (l *Lab) connect() error {
	ca, err := os.ReadFile(servingCA(l.dir))
	if err != nil {
		return err
	}
	token, err := adminToken(l.dir)
	if err != nil {
		return err
	}
	l.client, err = newClient(l.record.URL, ca, token)
	return err
}

// identify waits for what a user needs first, and writes down which cluster this is.
func (l *Lab) identify(ctx context.Context) error {
	if err := l.client.do(ctx, http.MethodGet, "/readyz", nil, nil); err != nil {
		return err
	}
	// The controller-manager makes it; pods and tokens need it.
	if err := l.client.do(ctx, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil, nil); err != nil {
		return err
	}
	uid, err := l.client.kubeSystemUID(ctx)
	if err != nil {
		return err
	}
	if l.record.Ready && l.record.UID == uid {
		return nil
	}
	var version struct{ GitVersion string }
	if err := l.client.do(ctx, http.MethodGet, "/version", nil, &version); err != nil {
		return err
	}
	var etcd struct{ Etcdserver string }
	store, err := etcdClient(l.dir, l.record.EtcdURL)
	if err != nil {
		return err
	}
	if err := store.do(ctx, http.MethodGet, "/version", nil, &etcd); err != nil {
		return err
	}
	l.record.Etcd = "v" + etcd.Etcdserver
	l.record.Ready, l.record.UID, l.record.Kubernetes = true, uid, version.GitVersion
	admin := kubeconfig{server: l.record.URL, ca: l.client.ca, token: l.client.token, name: ContextName}
	if err := replace(filepath.Join(l.dir, fileAdmin), admin.bytes()); err != nil {
		return err
	}
	return writeJSON(filepath.Join(l.dir, fileRecord), l.record)
}

// obituary says why a lab did not live, with the end of the log that knows most.
func (l *Lab) obituary() error {
	var s state
	if err := read(l.dir, fileState, &s); err != nil {
		return err
	}
	why := s.Why
	if why == "" {
		why = "the supervisor ended"
	}
	name := "supervisor"
	for _, p := range s.Processes {
		if !p.runs(s.BootID) && bytes.Contains([]byte(why), []byte(p.Name)) {
			name = p.Name
		}
	}
	return errors.New(why + tail(filepath.Join(l.dir, name+".log")))
}

func tail(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) == 0 {
		return ""
	}
	const most = 2000
	raw = bytes.TrimSpace(raw[max(0, len(raw)-most):])
	return fmt.Sprintf("\nend of %s:\n%s", path, raw)
}
