package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// look is how often a node looks at what tells it nothing by itself.
const look = 250 * time.Millisecond

type nodePlan struct {
	Name, Namespace, Kubeconfig string
	Images                      map[string]image
	Broker                      brokerPlan
}

// node is the scheduler and the kubelet of one namespace.
type node struct {
	nodePlan
	api *client

	mu    sync.Mutex
	pods  map[string]*running // by UID
	said  map[string]bool     // events that were told
	alive sync.WaitGroup
}

// serveNode is a node until ctx ends. What it cannot do it says on standard error
// and tries again.
func serveNode(ctx context.Context, dir string) error {
	n := &node{pods: map[string]*running{}, said: map[string]bool{}}
	if err := readPlan(dir, "node.json", &n.nodePlan); err != nil {
		return err
	}
	var err error
	if n.api, err = newClient(n.Kubeconfig, "kubelet/v1.36.3 (handrail-lab)"); err != nil {
		return err
	}
	l, err := listen(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer n.alive.Wait()
	defer cancel()
	n.alive.Go(func() { n.beat(ctx) })
	n.alive.Go(func() { keepUnits(ctx, dir) })
	n.alive.Go(func() { keepReport(ctx, dir, n.Name) })
	n.alive.Go(func() {
		for ctx.Err() == nil {
			if err := n.follow(ctx); err != nil && ctx.Err() == nil {
				complain(err)
			}
			wait(ctx, look)
		}
	})
	return serve(ctx, l, n)
}

func complain(err error) { fmt.Fprintln(os.Stderr, time.Now().UTC().Format(time.RFC3339), err) }

func (n *node) path(rest string) string { return "/api/v1/namespaces/" + n.Namespace + "/" + rest }

// beat says that the node is alive, for the controller that would else mark it.
func (n *node) beat(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now().UTC().Format(time.RFC3339)
		err := n.api.do(ctx, http.MethodPatch, "/api/v1/nodes/"+n.Name+"/status", "application/strategic-merge-patch+json", object{"status": object{"conditions": []object{{
			"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "the drill runs", "lastHeartbeatTime": now}}}}, nil)
		if err != nil && ctx.Err() == nil && !hasCode(err, http.StatusNotFound) && !hasCode(err, http.StatusForbidden) { // not there yet
			complain(err)
		}
		wait(ctx, 5*time.Second)
	}
}

// follow lists the Pods and watches them until the watch ends.
func (n *node) follow(ctx context.Context) error {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []pod
	}
	if err := n.api.do(ctx, http.MethodGet, n.path("pods"), "", nil, &list); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, p := range list.Items {
		there[p.Metadata.UID] = true
		n.see(ctx, p)
	}
	n.mu.Lock()
	for uid, r := range n.pods {
		if !there[uid] {
			r.end()
		}
	}
	n.mu.Unlock()
	query := url.Values{"watch": {"1"}, "resourceVersion": {list.Metadata.ResourceVersion}, "timeoutSeconds": {"60"}}
	res, err := n.api.send(ctx, http.MethodGet, n.path("pods")+"?"+query.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("watching pods: the API server answered %d", res.StatusCode)
	}
	for dec := json.NewDecoder(res.Body); ; {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if err := dec.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var p pod
		if e.Type == "ERROR" || json.Unmarshal(e.Object, &p) != nil {
			return nil // too old: list again
		}
		if e.Type == "DELETED" {
			n.gone(p.Metadata.UID)
			continue
		}
		n.see(ctx, p)
	}
}

// see takes a Pod up, or lets it end.
func (n *node) see(ctx context.Context, p pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r, ok := n.pods[p.Metadata.UID]
	if !ok {
		if p.Spec.NodeName != "" && p.Spec.NodeName != n.Name {
			return
		}
		r = newRunning(ctx, n, p)
		n.pods[p.Metadata.UID] = r
		if p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			close(r.done) // of a node before us
		} else {
			n.alive.Go(r.run)
		}
	}
	if p.Metadata.DeletionTimestamp != nil && !r.leaving {
		r.leaving = true
		n.alive.Go(func() { r.leave(ctx) })
	}
}

func (n *node) gone(uid string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r, ok := n.pods[uid]; ok {
		r.end()
		delete(n.pods, uid)
	}
}

// tell records an event once.
func (n *node) tell(ctx context.Context, p pod, component, reason, message string) {
	n.mu.Lock()
	key := p.Metadata.UID + "\n" + reason + "\n" + message
	told := n.said[key]
	n.said[key] = true
	n.mu.Unlock()
	if told {
		return
	}
	now := time.Now().UTC().Format(time.RFC3339)
	err := n.api.do(ctx, http.MethodPost, n.path("events"), plainJSON, object{
		"metadata":       object{"generateName": p.Metadata.Name + ".", "namespace": n.Namespace},
		"involvedObject": object{"apiVersion": "v1", "kind": "Pod", "namespace": n.Namespace, "name": p.Metadata.Name, "uid": p.Metadata.UID},
		"type":           "Warning", "reason": reason, "message": message, "count": 1, "firstTimestamp": now, "lastTimestamp": now,
		"source": object{"component": component, "host": n.Name}, "reportingComponent": component,
	}, nil)
	if err != nil && ctx.Err() == nil {
		complain(err)
	}
}
