package stuck

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
)

// Look says whether the controller at one place lives. The error is for a
// caller that turned away; what could not be read is unknown.
func Look(ctx context.Context, c *cluster.Client, p Place) (Sight, error) {
	o, err := c.Get(ctx, p.Resource, p.namespace, p.name)
	gone := errors.Is(err, cluster.ErrAbsent)
	switch {
	case ctx.Err() != nil:
		return Sight{}, fmt.Errorf("looking at %s: %w", p, ctx.Err())
	case gone && p.Kind == "Lease":
		return Sight{Alive: Unknown, Why: p.String() + " is not there: a Lease can show that a controller lives, never that it is gone; name its workload"}, nil
	case gone:
		s, err := podsLeft(ctx, c, p, Sight{Alive: Dead, Why: p.String() + " is not there"}, "")
		if s.Alive == Dead { // it may never have been, or be another's name
			s.Alive, s.absent = Unknown, true
		}
		return s, err
	case err != nil:
		return Sight{Alive: Unknown, Why: err.Error()}, nil
	}
	switch p.Kind {
	case "Lease":
		s := LeadsBy(c, o)
		if s.Alive == Dead {
			s = Sight{Alive: Unknown, Why: s.Why + ": a Lease can show that a controller lives, never that it is gone; name its workload"}
		}
		return s, nil
	case "Pod":
		return podSight(p.String(), o).of(o), nil
	}
	s := working(p.String(), p.Resource, o)
	if s.Alive != Dead {
		return s.of(o), nil
	}
	s, err = podsLeft(ctx, c, p, s, object.SelectorOf(o))
	return s.of(o), err
}

// working is ready for whatever makes Pods.
func working(name string, r cluster.Resource, o cluster.Object) Sight {
	if r.Kind != "CronJob" {
		return ready(name, o)
	}
	suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	active, _, _ := unstructured.NestedSlice(o.Object, "status", "active")
	switch {
	case len(active) > 0:
		return Sight{Alive: Alive, Why: fmt.Sprintf("%s has %d Jobs at work", name, len(active))}
	case suspended:
		return Sight{Alive: Dead, Why: name + " is suspended"}
	}
	return Sight{Alive: Unknown, Why: name + " runs now and then: suspend it to prove that it is gone"}
}

// ready reads the state of a workload from its counters.
func ready(name string, o cluster.Object) Sight {
	count := func(def int64, fields ...string) int64 {
		n, there, err := unstructured.NestedInt64(o.Object, fields...)
		if err != nil || !there {
			return def
		}
		return n
	}
	want, up, all := count(1, "spec", "replicas"), count(0, "status", "readyReplicas"), count(0, "status", "replicas")
	if o.GetKind() == "DaemonSet" {
		want, up = count(1, "status", "desiredNumberScheduled"), count(0, "status", "numberReady")
		all = count(0, "status", "currentNumberScheduled") + count(0, "status", "numberMisscheduled")
	}
	if seen := count(0, "status", "observedGeneration"); seen < o.GetGeneration() {
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s was changed a moment ago and its status is older; read again", name)}
	}
	switch {
	case up > 0:
		return Sight{Alive: Alive, Why: fmt.Sprintf("%s has %d of %d ready", name, up, want)}
	case want == 0 && all == 0:
		return Sight{Alive: Dead, Why: name + " is scaled to 0"}
	case want == 0:
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s is scaled to 0, but %d of its pods are still there", name, all)}
	}
	return Sight{Alive: Unknown, Why: fmt.Sprintf("%s has none of %d ready: it may come back; repair it, or scale it to 0 to prove that it is gone", name, want)}
}

func podSight(name string, o cluster.Object) Sight {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	switch {
	case phase == "Succeeded" || phase == "Failed":
		return Sight{Alive: Dead, Why: name + " has ended (" + phase + ")"}
	case podReady(o):
		return Sight{Alive: Alive, Why: name + " is ready"}
	}
	return Sight{Alive: Unknown, Why: name + " is there and not ready: it may come back"}
}

func podReady(o cluster.Object) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		if m, _ := item.(map[string]any); m["type"] == "Ready" && m["status"] == "True" {
			return true
		}
	}
	return false
}

// podsLeft holds a verdict of death against what a workload leaves: pods of its
// name or selector, and a Lease. The holder that renews a Lease lives, whatever is said
// of the workload.
func podsLeft(ctx context.Context, c *cluster.Client, p Place, s Sight, selector string) (Sight, error) {
	query := url.Values{}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	var running []string
	err := c.List(ctx, cluster.Pods().Path(p.namespace, ""), cluster.AsJSON, query, func(o cluster.Object) {
		if selector == "" && !bears(o, p.name) || podSight("", o).Alive == Dead {
			return
		}
		running = append(running, o.GetName())
	})
	if ctx.Err() != nil {
		return Sight{}, fmt.Errorf("looking for pods of %s: %w", p, ctx.Err())
	}
	if err != nil {
		return Sight{Alive: Unknown, Why: s.Why + ", but its pods cannot be listed: " + err.Error()}, nil
	}
	if len(running) > 0 {
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s, but pod %s of its name is still there", s.Why, running[0])}, nil
	}
	held := Sight{Alive: Dead}
	err = c.List(ctx, cluster.Leases().Path(p.namespace, ""), cluster.AsJSON, nil, func(o cluster.Object) {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		if (o.GetName() == p.name || named(holder, p.name)) && held.Alive != Alive {
			if l := LeadsBy(c, o); l.Alive != Dead {
				held = l
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return Sight{}, fmt.Errorf("looking for Leases of %s: %w", p, ctx.Err())
	case err != nil:
		return Sight{Alive: Unknown, Why: s.Why + ", but Leases cannot be listed: " + err.Error()}, nil
	case held.Alive != Dead:
		return Sight{Alive: held.Alive, Why: s.Why + ", but " + held.Why}, nil
	}
	s.Why += ", and no pod and no Lease of its name lives"
	return s, nil
}

// bears reports whether an object is of a workload by its name or app label.
func bears(o cluster.Object, name string) bool {
	labels := o.GetLabels()
	return named(o.GetName(), name) || labels[owner.LabelApp] == name || labels["app"] == name
}

// named reports whether s is name, or a generated name from it.
func named(s, name string) bool {
	rest, ok := strings.CutPrefix(s, name)
	return ok && name != "" && (rest == "" || rest[0] == '-' || rest[0] == '_')
}

// settledLease is for how long after its end a Lease is no sign of death: its
// holder may be between two leaders, or starting again.
const settledLease = 5 * time.Minute

// LeadsBy says whether the holder of a Lease renews it, by the server's clock: what
// the holder says of its own time counts only where the server did not see it
// write later. An expired one is dead only as a Lease.
func LeadsBy(c *cluster.Client, o cluster.Object) Sight {
	name := cluster.Leases().Label(o.GetNamespace(), o.GetName())
	holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
	text, _, _ := unstructured.NestedString(o.Object, "spec", "renewTime")
	seconds, _, err := unstructured.NestedInt64(o.Object, "spec", "leaseDurationSeconds")
	if holder == "" {
		return Sight{Alive: Dead, Why: name + " has no holder"}
	}
	renewed, terr := time.Parse(time.RFC3339, text)
	if terr != nil || err != nil || seconds <= 0 {
		return Sight{Alive: Unknown, Why: name + " does not say until when it is held"}
	}
	if at := blame.WrittenAt(o, "spec", "renewTime"); at.After(renewed) {
		renewed = at
	}
	now, why := c.Now()
	if why != "" {
		return Sight{Alive: Unknown, Why: name + ": " + why}
	}
	over := now.Sub(renewed.Add(time.Duration(seconds) * time.Second))
	ago := now.Sub(renewed).Round(time.Second)
	switch {
	case over < 0:
		return Sight{Alive: Alive, Why: fmt.Sprintf("%s is renewed by %s", name, steps.Clip(holder, 100))}
	case over < settledLease:
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s was renewed by %s, last %s before now: who holds it may be starting again; look again in %s", name, steps.Clip(holder, 100), ago, settledLease)}
	}
	return Sight{Alive: Dead, Why: fmt.Sprintf("%s was last renewed %s before now", name, ago)}
}
