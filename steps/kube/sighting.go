package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
)

// settlePause is the time between two looks at a target whose request got no
// answer.
const settlePause = 500 * time.Millisecond

// sighting is what stands at the address of the target: nothing, the object that
// was approved, or another one of its name.
type sighting struct {
	absent bool
	other  string // UID of another object
	raw    []byte // the whole of it, where the order is about its fields
	metav1.ObjectMeta
}

// sightAt reads what is at the address of an order.
func sightAt(ctx context.Context, c *client, o order) (sighting, error) {
	accept := asMetadata
	if len(o.ops) > 0 {
		accept = asJSON
	}
	raw, err := c.read(ctx, o.path, accept, nil)
	if errors.Is(err, errAbsent) {
		return sighting{absent: true}, nil
	}
	if err != nil {
		return sighting{}, err
	}
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &m); err != nil {
		return sighting{}, fmt.Errorf("%s: the answer of %s cannot be read: %w", o.path, c.Server, err)
	}
	if m.UID == "" {
		return sighting{}, fmt.Errorf("%s: %s answered something else than the object", o.path, c.Server)
	}
	s := sighting{ObjectMeta: m.ObjectMeta}
	if len(o.ops) > 0 {
		s.raw = raw
	}
	if o.uid != nothing && string(m.UID) != o.uid {
		s.other = string(m.UID)
	}
	return s, nil
}

// after is the target read again, for the record; id is the Audit-ID of the act
// where one is known.
func (s sighting) after(id string) []steps.KV {
	kvs := []steps.KV{{Key: keyObject, Value: "gone"}}
	if !s.absent {
		if kvs[0].Value = "there"; s.other != "" {
			kvs[0].Value = "gone; another object has its name"
		}
		kvs = append(kvs,
			steps.KV{Key: keyUID, Value: string(s.UID)},
			steps.KV{Key: keyFinalizers, Value: orNothing(strings.Join(s.Finalizers, ", "))},
			steps.KV{Key: keyDeletion, Value: stamp(s.DeletionTimestamp)},
			steps.KV{Key: keyVersion, Value: s.ResourceVersion})
	}
	if id != "" {
		kvs = append(kvs, steps.KV{Key: keyAudit, Value: id})
	}
	return kvs
}

// moved says which condition of a request no longer holds, and who may be behind
// it.
func (o order) moved(now sighting) string {
	var what []string
	switch {
	case o.uid == nothing && now.absent:
		return "It is not there, as before."
	case o.uid == nothing:
		return fmt.Sprintf("Somebody else made it: UID %s%s.", now.UID, now.by())
	case now.absent:
		return "It is gone: somebody else deleted it, or its last finalizer went."
	case now.other != "":
		return fmt.Sprintf("It is another object of the same name now: UID %s, not %s%s.", now.other, o.uid, now.by())
	}
	if now.ResourceVersion != o.version {
		what = append(what, fmt.Sprintf("its version is %s, not %s", now.ResourceVersion, o.version))
	}
	if !slices.Equal(now.Finalizers, o.finalizers) {
		what = append(what, fmt.Sprintf("its finalizers are %s, not %s", orNothing(strings.Join(now.Finalizers, ", ")), orNothing(strings.Join(o.finalizers, ", "))))
	}
	if at := stamp(now.DeletionTimestamp); at != o.deletion {
		what = append(what, fmt.Sprintf("its deletionTimestamp is %s, not %s", at, o.deletion))
	}
	if len(what) == 0 {
		return "It is as it was."
	}
	return "Somebody wrote it: " + strings.Join(what, "; ") + now.by() + "."
}

// by names the manager of the newest entry of managedFields: a lead, not a
// proof.
func (s sighting) by() string {
	var last metav1.ManagedFieldsEntry
	for _, e := range s.ManagedFields {
		if e.Time != nil && (last.Time == nil || !e.Time.Before(last.Time)) {
			last = e
		}
	}
	if last.Time == nil {
		return ""
	}
	return fmt.Sprintf(" (last recorded writer: %s, %s at %s)", steps.Clip(last.Manager, 100), last.Operation, stamp(last.Time))
}

// settle finds out what a request came to whose answer never arrived. Nothing
// seen is failed only once the server has given up on the request.
func settle(ctx context.Context, c *client, o order, id string, began time.Time, lost error, judged judge) (steps.Outcome, error) {
	for {
		over := c.env.Now().Sub(began) > writeTime
		now, err := sightAt(ctx, c, o)
		if err == nil {
			result, words := judged(o, now)
			switch {
			case result == steps.Done:
				return steps.Outcome{Result: result, After: now.after(id), Response: fmt.Sprintf(
					"%s The answer did not arrive (%v); that it was this request, the audit log of the server can prove (audit id %s).", words, lost, id)}, nil
			case result == "" && over, result == steps.Failed:
				return steps.Outcome{Result: steps.Failed, After: now.after(id), Response: fmt.Sprintf("%s The request did not take effect: %v.", words, lost)}, nil
			}
		} else if over {
			return steps.Outcome{}, fmt.Errorf("%s: the request was sent (audit id %s) and got no answer (%w), and the object cannot be read: %v; read it again before anything else", o.object, id, lost, err)
		}
		if err := pause(ctx, settlePause); err != nil {
			return steps.Outcome{}, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func stamp(at *metav1.Time) string {
	if at == nil {
		return nothing
	}
	return at.UTC().Format(time.RFC3339)
}
