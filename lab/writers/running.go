package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// running is one Pod on this node.
type running struct {
	n       *node
	pod     pod
	ctx     context.Context
	end     context.CancelFunc
	done    chan struct{}
	leaving bool // guarded by the node

	mu      sync.Mutex
	phase   string
	bound   bool
	unfit   string // why it cannot be placed
	started time.Time
	boxes   []*box // init containers first
	changed chan struct{}
	api     func() (*client, error) // as the account of the Pod
}

func newRunning(ctx context.Context, n *node, p pod) *running {
	r := &running{n: n, pod: p, done: make(chan struct{}), phase: "Pending", changed: make(chan struct{}, 1)}
	r.ctx, r.end = context.WithCancel(ctx)
	for i, c := range append(append([]container{}, p.Spec.InitContainers...), p.Spec.Containers...) {
		r.boxes = append(r.boxes, &box{r: r, container: c, image: n.Images[imageName(c.Image)], init: i < len(p.Spec.InitContainers), waiting: "PodInitializing"})
	}
	r.api = sync.OnceValues(r.token)
	return r
}

// token asks for one that is bound to the Pod, as a kubelet does.
func (r *running) token() (*client, error) {
	account := r.pod.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	var minted struct{ Status struct{ Token string } }
	err := r.n.api.do(r.ctx, http.MethodPost, r.n.path("serviceaccounts/"+account+"/token"), plainJSON, object{
		"spec": object{"expirationSeconds": 3600, "boundObjectRef": object{"apiVersion": "v1", "kind": "Pod", "name": r.pod.Metadata.Name, "uid": r.pod.Metadata.UID}},
	}, &minted)
	return r.n.api.as(minted.Status.Token, "kubectl/v1.36.3 (linux/amd64) kubernetes/handrail-lab"), err
}

// run is the life of the Pod on the node.
func (r *running) run() {
	defer close(r.done)
	reports := make(chan struct{})
	go func() {
		defer close(reports)
		r.report()
	}()
	defer func() { <-reports }()
	defer close(r.changed)
	if !r.place() {
		return
	}
	r.set(func() { r.started = time.Now() })
	for _, b := range r.boxes {
		if b.init && !b.untilDone() {
			if r.ctx.Err() == nil {
				r.set(func() { r.phase = "Failed" })
			}
			return
		}
	}
	r.set(func() { r.phase = "Running" })
	var all sync.WaitGroup
	for _, b := range r.boxes {
		if !b.init {
			all.Go(func() { b.untilDone() })
		}
	}
	all.Wait()
	if r.ctx.Err() != nil {
		return
	}
	r.set(func() {
		r.phase = "Succeeded"
		for _, b := range r.boxes {
			if b.code != 0 {
				r.phase = "Failed"
			}
		}
	})
}

// set changes what is reported.
func (r *running) set(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// place waits until nothing stands against the Pod, and binds it.
func (r *running) place() bool {
	if r.pod.Spec.NodeName != "" {
		r.bound = true
		return true
	}
	for {
		why, err := r.unplaceable()
		if err == nil && why == "" {
			err = r.n.api.do(r.ctx, http.MethodPost, r.n.path("pods/"+r.pod.Metadata.Name+"/binding"), plainJSON, object{
				"metadata": object{"name": r.pod.Metadata.Name, "uid": r.pod.Metadata.UID},
				"target":   object{"apiVersion": "v1", "kind": "Node", "name": r.n.Name}}, nil)
			if err == nil || hasCode(err, http.StatusConflict) {
				r.set(func() { r.bound, r.unfit = true, "" })
				return true
			}
		}
		if hasCode(err, http.StatusNotFound) || r.ctx.Err() != nil {
			return false
		}
		if err != nil {
			complain(err)
		} else {
			why = "0/1 nodes are available: " + why + "."
			if why != r.unfit {
				r.set(func() { r.unfit = why })
			}
			r.n.tell(r.ctx, r.pod, "default-scheduler", "FailedScheduling", why)
		}
		if wait(r.ctx, look) != 0 {
			return false
		}
	}
}

// unplaceable says what a scheduler would say of the claims of a Pod.
func (r *running) unplaceable() (string, error) {
	for _, v := range r.pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		var claim struct{ Status struct{ Phase string } }
		err := r.n.api.do(r.ctx, http.MethodGet, r.n.path("persistentvolumeclaims/"+name), "", nil, &claim)
		switch {
		case hasCode(err, http.StatusNotFound):
			return fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case err != nil:
			return "", err
		case claim.Status.Phase != "Bound":
			return "pod has unbound immediate PersistentVolumeClaims", nil
		}
	}
	return "", nil
}

// lacks says what a container names that is not there.
func (r *running) lacks(c container) string {
	find := func(plural, kind string, k *keyRef) string {
		if k == nil || k.Optional {
			return ""
		}
		var o struct{ Data map[string]any }
		err := r.n.api.do(r.ctx, http.MethodGet, r.n.path(plural+"/"+k.Name), "", nil, &o)
		switch {
		case hasCode(err, http.StatusNotFound):
			return fmt.Sprintf("%s %q not found", kind, k.Name)
		case err != nil:
			return err.Error()
		case k.Key != "" && o.Data[k.Key] == nil:
			return fmt.Sprintf("couldn't find key %s in %s %s/%s", k.Key, map[string]string{"secrets": "Secret", "configmaps": "ConfigMap"}[plural], r.n.Namespace, k.Name)
		}
		return ""
	}
	for _, e := range c.EnvFrom {
		if why := find("secrets", "secret", e.SecretRef); why != "" {
			return why
		}
		if why := find("configmaps", "configmap", e.ConfigMapRef); why != "" {
			return why
		}
	}
	for _, e := range c.Env {
		if why := find("secrets", "secret", e.ValueFrom.SecretKeyRef); why != "" {
			return why
		}
		if why := find("configmaps", "configmap", e.ValueFrom.ConfigMapKeyRef); why != "" {
			return why
		}
	}
	return ""
}

// leave ends what runs and lets the object go, as a kubelet does.
func (r *running) leave(ctx context.Context) {
	r.end()
	select {
	case <-r.done:
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		err := r.n.api.do(ctx, http.MethodDelete, r.n.path("pods/"+r.pod.Metadata.Name), plainJSON,
			object{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": object{"uid": r.pod.Metadata.UID}}, nil)
		if err == nil || hasCode(err, http.StatusNotFound) || hasCode(err, http.StatusConflict) {
			return
		}
		complain(err)
		wait(ctx, look)
	}
}
