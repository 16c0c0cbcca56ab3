package act

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
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// SettlePause is the time between two looks at a target whose request got no
// answer.
const SettlePause = 500 * time.Millisecond

// Sighting is what stands at the address of the target: nothing, the object that
// was approved, or another one of its name.
type Sighting struct {
	Absent bool
	Other  string // UID of another object
	Raw    []byte // the whole of it, where the order is about its fields or its content may not move
	metav1.ObjectMeta
}

// SightAt reads what is at the address of an order.
func SightAt(ctx context.Context, c *cluster.Client, o Order) (Sighting, error) {
	accept, whole := cluster.AsMetadata, len(o.Ops) > 0 || o.rest != ""
	if whole {
		accept = cluster.AsJSON
	}
	raw, err := c.Read(ctx, o.Path, accept, nil)
	if errors.Is(err, cluster.ErrAbsent) {
		return Sighting{Absent: true}, nil
	}
	if err != nil {
		return Sighting{}, err
	}
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &m); err != nil {
		return Sighting{}, fmt.Errorf("%s: the answer of %s cannot be read: %w", o.Path, c.Server, err)
	}
	if m.UID == "" {
		return Sighting{}, fmt.Errorf("%s: %s answered something else than the object", o.Path, c.Server)
	}
	s := Sighting{ObjectMeta: m.ObjectMeta}
	if whole {
		s.Raw = raw
	}
	if o.UID != report.Nothing && string(m.UID) != o.UID {
		s.Other = string(m.UID)
	}
	return s, nil
}

// After is the target read again, for the record; id is the Audit-ID of the act
// where one is known.
func (s Sighting) After(id string) []steps.KV {
	kvs := []steps.KV{{Key: KeyObject, Value: "gone"}}
	if !s.Absent {
		if kvs[0].Value = "there"; s.Other != "" {
			kvs[0].Value = "gone; another object has its name"
		}
		kvs = append(kvs,
			steps.KV{Key: KeyUID, Value: string(s.UID)},
			steps.KV{Key: KeyFinalizers, Value: report.OrNothing(strings.Join(s.Finalizers, ", "))},
			steps.KV{Key: KeyDeletion, Value: Stamp(s.DeletionTimestamp)},
			steps.KV{Key: KeyVersion, Value: s.ResourceVersion})
	}
	if id != "" {
		kvs = append(kvs, steps.KV{Key: KeyAudit, Value: id})
	}
	return kvs
}

// Moved says which condition of a request no longer holds, and who may be behind
// it.
func (o Order) Moved(now Sighting) string {
	var what []string
	switch {
	case o.UID == report.Nothing && now.Absent:
		return "It is not there, as before."
	case o.UID == report.Nothing:
		return fmt.Sprintf("Someone else created it: UID %s%s.", now.UID, now.By())
	case now.Absent:
		return "It is gone: someone else deleted it, or its last finalizer was removed."
	case now.Other != "":
		return fmt.Sprintf("It is another object of the same name now: UID %s, not %s%s.", now.Other, o.UID, now.By())
	}
	if now.ResourceVersion != o.Version {
		what = append(what, fmt.Sprintf("its version is %s, not %s", now.ResourceVersion, o.Version))
	}
	if !slices.Equal(now.Finalizers, o.Finalizers) {
		what = append(what, fmt.Sprintf("its finalizers are %s, not %s", report.OrNothing(strings.Join(now.Finalizers, ", ")), report.OrNothing(strings.Join(o.Finalizers, ", "))))
	}
	if at := Stamp(now.DeletionTimestamp); at != o.Deletion {
		what = append(what, fmt.Sprintf("its deletionTimestamp is %s, not %s", at, o.Deletion))
	}
	if len(what) == 0 {
		return "It is as it was."
	}
	return "It was written: " + strings.Join(what, "; ") + now.By() + "."
}

// By names the manager of the newest entry of managedFields: a lead, not a
// proof.
func (s Sighting) By() string {
	var last metav1.ManagedFieldsEntry
	for _, e := range s.ManagedFields {
		if e.Time != nil && (last.Time == nil || !e.Time.Before(last.Time)) {
			last = e
		}
	}
	if last.Time == nil {
		return ""
	}
	return fmt.Sprintf(" (last recorded writer: %s, %s at %s)", steps.Clip(last.Manager, 100), last.Operation, Stamp(last.Time))
}

// settle finds out what a request came to whose answer never arrived. Nothing
// seen is failed only once the server has given up on the request.
func settle(ctx context.Context, c *cluster.Client, o Order, id string, began time.Time, lost error, judged Judge) (steps.Outcome, error) {
	for {
		over := c.Env.Now().Sub(began) > writeTime
		now, err := SightAt(ctx, c, o)
		if err == nil {
			result, words := judged(o, now)
			switch {
			case result == steps.Done:
				return steps.Outcome{Result: result, After: now.After(id), Response: fmt.Sprintf(
					"%s The answer did not arrive (%v); that it was this request, the audit log of the server can prove (audit id %s).", words, lost, id)}, nil
			case result == "" && over, result == steps.Failed:
				return steps.Outcome{Result: steps.Failed, After: now.After(id), Response: fmt.Sprintf("%s The request did not take effect: %v.", words, lost)}, nil
			}
		} else if over {
			return steps.Outcome{}, fmt.Errorf("%s: the request was sent (audit id %s) and got no answer (%w), and the object cannot be read: %v; read it again before anything else", o.Object, id, lost, err)
		}
		if err := Pause(ctx, SettlePause); err != nil {
			return steps.Outcome{}, err
		}
	}
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Stamp is a time as a preview shows it.
func Stamp(at *metav1.Time) string {
	if at == nil {
		return report.Nothing
	}
	return at.UTC().Format(time.RFC3339)
}
