package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// report keeps the status of the Pod as it is, until there is nothing more to say.
func (r *running) report() {
	// A status that was reached is told even while the Pod is taken away.
	ctx := context.WithoutCancel(r.ctx)
	for more := true; more; {
		_, more = <-r.changed
		r.mu.Lock()
		status := r.status()
		r.mu.Unlock()
		err := r.n.api.do(ctx, http.MethodPatch, r.n.path("pods/"+r.pod.Metadata.Name+"/status"), mergePatch,
			object{"metadata": object{"uid": r.pod.Metadata.UID}, "status": status}, nil)
		if err != nil && !hasCode(err, http.StatusNotFound) && r.ctx.Err() == nil {
			complain(err)
		}
	}
}

// status is what a kubelet writes. The caller holds the Pod.
func (r *running) status() object {
	if !r.bound {
		return object{"conditions": []object{{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": r.unfit, "lastTransitionTime": stamp(time.Now())}}}
	}
	initialized, ready := true, len(r.pod.Spec.Containers) > 0 && r.phase == "Running"
	inits, mains := []object{}, []object{}
	for _, b := range r.boxes {
		if b.init {
			initialized = initialized && b.ended && b.code == 0
			inits = append(inits, b.status())
			continue
		}
		ready = ready && b.ready
		mains = append(mains, b.status())
	}
	condition := func(kind string, is bool, reason string) object {
		c := object{"type": kind, "status": "True", "lastTransitionTime": stamp(time.Now())}
		if !is {
			c["status"], c["reason"] = "False", reason
		}
		return c
	}
	unready := "ContainersNotReady"
	if r.phase == "Succeeded" {
		unready = "PodCompleted"
	}
	out := object{"phase": r.phase, "hostIP": "127.0.0.1", "containerStatuses": mains, "conditions": []object{
		condition("PodScheduled", true, ""), condition("Initialized", initialized, "ContainersNotInitialized"),
		condition("ContainersReady", ready, unready), condition("Ready", ready, unready)}}
	if len(inits) > 0 {
		out["initContainerStatuses"] = inits
	}
	if !r.started.IsZero() {
		ip := r.address()
		out["startTime"], out["podIP"], out["podIPs"] = stamp(r.started), ip, []object{{"ip": ip}}
	}
	return out
}

// address is one that nothing answers at: it stands for the network that a node
// without one does not have, so that Services have backends.
func (r *running) address() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.pod.Metadata.UID))
	n := h.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", 128+n>>16&63, n>>8&255, 1+n%254)
}

func (b *box) status() object {
	state := object{}
	switch {
	case b.runs:
		state["running"] = object{"startedAt": stamp(b.started)}
	case b.ended:
		state["terminated"] = past{b.code, b.started, b.finished}.status()
	default:
		w := object{"reason": b.waiting}
		if b.message != "" {
			w["message"] = b.message
		}
		state["waiting"] = w
	}
	out := object{"name": b.container.Name, "image": b.container.Image, "imageID": b.imageID, "ready": b.ready, "started": b.runs, "restartCount": b.restarts, "state": state}
	if b.last != nil {
		out["lastState"] = object{"terminated": b.last.status()}
	}
	return out
}

func (p past) status() object {
	reason := "Completed"
	if p.code != 0 {
		reason = "Error"
	}
	return object{"exitCode": p.code, "reason": reason, "startedAt": stamp(p.started), "finishedAt": stamp(p.finished)}
}
