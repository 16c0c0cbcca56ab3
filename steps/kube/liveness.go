package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"handrail/steps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lookAtWorkload says whether the controller at one place lives. The error is for a
// caller that turned away; what could not be read is unknown.
func lookAtWorkload(ctx context.Context, c *client, p place) (sight, error) {
	o, err := c.get(ctx, p.resource, p.namespace, p.name)
	gone := errors.Is(err, errAbsent)
	switch {
	case ctx.Err() != nil:
		return sight{}, fmt.Errorf("looking at %s: %w", p, ctx.Err())
	case gone && p.kind == "Lease":
		return sight{alive: unknown, why: p.String() + " is not there: a Lease can show that a controller lives, never that it is gone; name its workload"}, nil
	case gone:
		s, err := podsLeft(ctx, c, p, sight{alive: dead, why: p.String() + " is not there"}, "")
		if s.alive == dead { // it may never have been, or be another's name
			s.alive, s.absent = unknown, true
		}
		return s, err
	case err != nil:
		return sight{alive: unknown, why: err.Error()}, nil
	}
	switch p.kind {
	case "Lease":
		s := leadsBy(c, o)
		if s.alive == dead {
			s = sight{alive: unknown, why: s.why + ": a Lease can show that a controller lives, never that it is gone; name its workload"}
		}
		return s, nil
	case "Pod":
		return podSight(p.String(), o).of(o), nil
	}
	s := working(p.String(), p.resource, o)
	if s.alive != dead {
		return s.of(o), nil
	}
	s, err = podsLeft(ctx, c, p, s, selectorOf(o))
	return s.of(o), err
}

// working is ready for whatever makes Pods.
func working(name string, r resource, o object) sight {
	if r.kind != "CronJob" {
		return ready(name, o)
	}
	suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	active, _, _ := unstructured.NestedSlice(o.Object, "status", "active")
	switch {
	case len(active) > 0:
		return sight{alive: alive, why: fmt.Sprintf("%s has %d Jobs at work", name, len(active))}
	case suspended:
		return sight{alive: dead, why: name + " is suspended"}
	}
	return sight{alive: unknown, why: name + " runs now and then: suspend it to prove that it is gone"}
}

// ready reads the state of a workload from its counters.
func ready(name string, o object) sight {
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
		return sight{alive: unknown, why: fmt.Sprintf("%s was changed a moment ago and its status is older; read again", name)}
	}
	switch {
	case up > 0:
		return sight{alive: alive, why: fmt.Sprintf("%s has %d of %d ready", name, up, want)}
	case want == 0 && all == 0:
		return sight{alive: dead, why: name + " is scaled to 0"}
	case want == 0:
		return sight{alive: unknown, why: fmt.Sprintf("%s is scaled to 0, but %d of its pods are still there", name, all)}
	}
	return sight{alive: unknown, why: fmt.Sprintf("%s has none of %d ready: it may come back; repair it, or scale it to 0 to prove that it is gone", name, want)}
}

func podSight(name string, o object) sight {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	switch {
	case phase == "Succeeded" || phase == "Failed":
		return sight{alive: dead, why: name + " has ended (" + phase + ")"}
	case podReady(o):
		return sight{alive: alive, why: name + " is ready"}
	}
	return sight{alive: unknown, why: name + " is there and not ready: it may come back"}
}

func podReady(o object) bool {
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
func podsLeft(ctx context.Context, c *client, p place, s sight, selector string) (sight, error) {
	query := url.Values{}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	var running []string
	err := c.sweep(ctx, pods().path(p.namespace, ""), asJSON, query, func(o object) {
		if selector == "" && !bears(o, p.name) || podSight("", o).alive == dead {
			return
		}
		running = append(running, o.GetName())
	})
	if ctx.Err() != nil {
		return sight{}, fmt.Errorf("looking for pods of %s: %w", p, ctx.Err())
	}
	if err != nil {
		return sight{alive: unknown, why: s.why + ", but its pods cannot be listed: " + err.Error()}, nil
	}
	if len(running) > 0 {
		return sight{alive: unknown, why: fmt.Sprintf("%s, but pod %s of its name is still there", s.why, running[0])}, nil
	}
	held := sight{alive: dead}
	err = c.sweep(ctx, leases().path(p.namespace, ""), asJSON, nil, func(o object) {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		if (o.GetName() == p.name || named(holder, p.name)) && held.alive != alive {
			if l := leadsBy(c, o); l.alive != dead {
				held = l
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return sight{}, fmt.Errorf("looking for Leases of %s: %w", p, ctx.Err())
	case err != nil:
		return sight{alive: unknown, why: s.why + ", but Leases cannot be listed: " + err.Error()}, nil
	case held.alive != dead:
		return sight{alive: held.alive, why: s.why + ", but " + held.why}, nil
	}
	s.why += ", and no pod and no Lease of its name lives"
	return s, nil
}

// bears reports whether an object is of a workload by its name or app label.
func bears(o object, name string) bool {
	labels := o.GetLabels()
	return named(o.GetName(), name) || labels[labelApp] == name || labels["app"] == name
}

// named reports whether s is name, or a generated name from it.
func named(s, name string) bool {
	rest, ok := strings.CutPrefix(s, name)
	return ok && name != "" && (rest == "" || rest[0] == '-' || rest[0] == '_')
}

// settledLease is for how long after its end a Lease is no sign of death: its
// holder may be between two leaders, or starting again.
const settledLease = 5 * time.Minute

// leadsBy says whether the holder of a Lease renews it, by the server's clock: what
// the holder says of its own time counts only where the server did not see it
// write later. An expired one is dead only as a Lease.
func leadsBy(c *client, o object) sight {
	name := leases().label(o.GetNamespace(), o.GetName())
	holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
	text, _, _ := unstructured.NestedString(o.Object, "spec", "renewTime")
	seconds, _, err := unstructured.NestedInt64(o.Object, "spec", "leaseDurationSeconds")
	if holder == "" {
		return sight{alive: dead, why: name + " has no holder"}
	}
	renewed, terr := time.Parse(time.RFC3339, text)
	if terr != nil || err != nil || seconds <= 0 {
		return sight{alive: unknown, why: name + " does not say until when it is held"}
	}
	if at := writtenAt(o, "spec", "renewTime"); at.After(renewed) {
		renewed = at
	}
	now, why := c.now()
	if why != "" {
		return sight{alive: unknown, why: name + ": " + why}
	}
	over := now.Sub(renewed.Add(time.Duration(seconds) * time.Second))
	ago := now.Sub(renewed).Round(time.Second)
	switch {
	case over < 0:
		return sight{alive: alive, why: fmt.Sprintf("%s is renewed by %s", name, steps.Clip(holder, 100))}
	case over < settledLease:
		return sight{alive: unknown, why: fmt.Sprintf("%s was renewed by %s, last %s before now: who holds it may be starting again; look again in %s", name, steps.Clip(holder, 100), ago, settledLease)}
	}
	return sight{alive: dead, why: fmt.Sprintf("%s was last renewed %s before now", name, ago)}
}
