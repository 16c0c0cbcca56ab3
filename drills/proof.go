package drills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/drills/bucket"
	"handrail/drills/lab"
	"handrail/drills/stage"
)

// Write is one write of the operator as the audit log has it, with the act that
// answers for it.
type Write struct {
	At     time.Time `json:"at"`
	Verb   string    `json:"verb"`
	Object string    `json:"object"` // resource namespace/name
	Agent  string    `json:"agent"`
	Act    string    `json:"act"` // step of the act, "" when none answers for it
}

// Proof says whether every write of the operator is one that an act in the
// bundle names, and every act that was done left its write.
type Proof struct {
	OK     bool     `json:"ok"`
	Acts   int      `json:"acts"`
	Done   int      `json:"done"`   // of those, the acts that ended done
	Before int      `json:"before"` // writes before the first act: no gate had opened
	Writes []Write  `json:"writes"`
	Silent []string `json:"silent,omitempty"` // steps of acts that ended done, without a write in the log

	// Asked is how many requests of handrail in the log the bundle names by their
	// Audit-ID; Strange are the others.
	Asked   int      `json:"asked"`
	Strange []string `json:"strange,omitempty"`
}

// Unnamed returns the writes that no act answers for.
func (p Proof) Unnamed() []Write {
	return slices.DeleteFunc(slices.Clone(p.Writes), func(w Write) bool { return w.Act != "" })
}

// AuditProof holds the audit log of the lab, or that of the bucket, against the bundle at path.
func (r *Running) AuditProof(ctx context.Context, path string) (Proof, error) {
	acts, err := acts(path)
	if err != nil {
		return Proof{}, fmt.Errorf("audit proof: %w", err)
	}
	events, err := r.events(ctx)
	if err != nil {
		return Proof{}, fmt.Errorf("audit proof: %w", err)
	}
	ids, err := named(path)
	if err != nil {
		return Proof{}, fmt.Errorf("audit proof: %w", err)
	}
	for i := range acts {
		acts[i].may = r.may(acts[i])
		acts[i].unlogged = r.stage.Rec.Backend == stage.BackendLocal && stateAlone(acts[i].kind)
	}
	p := prove(events, acts)
	p.Asked, p.Strange = confirm(events, ids)
	return p, nil
}

// events are the requests of the operator in the logs of the servers that the drill has: the API server
// of the lab, the bucket, the server of another backend, and the stand-in for Keycloak. The last three are asked for writes alone.
func (r *Running) events(ctx context.Context) (out []lab.AuditEvent, err error) {
	if r.lab != nil {
		if out, err = r.lab.AuditEvents(ctx, lab.AuditFilter{User: r.Operator()}); err != nil {
			return nil, err
		}
	}
	if r.stage.Rec.Bucket != nil {
		all, err := bucket.Requests(r.stage.BucketDir())
		if err != nil {
			return nil, err
		}
		for _, q := range all {
			if q.Who != stage.NameOperator || !q.Writes() {
				continue
			}
			in, name, _ := strings.Cut(q.Object, "/")
			out = append(out, lab.AuditEvent{ID: q.ID, Verb: strings.ToLower(q.Method), User: q.Who, Resource: storedObject, Namespace: in, Name: name,
				URI: "/" + q.Object, UserAgent: q.Agent, Code: q.Status, Received: q.At, Completed: q.At})
		}
	}
	realm, err := r.stage.KeycloakWrites()
	if err != nil {
		return nil, err
	}
	for _, w := range realm {
		client, _, _ := strings.Cut(strings.TrimPrefix(w.Path, "/admin/realms/"+stage.KeycloakRealm+"/clients/"), "/")
		out = append(out, lab.AuditEvent{Verb: strings.ToLower(w.Method), User: w.Who, Resource: "clients", Name: client, URI: w.Path, Code: w.Status, Received: w.At, Completed: w.At})
	}
	cloud, err := r.stage.AWSWrites()
	if err != nil {
		return nil, err
	}
	for _, w := range cloud {
		out = append(out, lab.AuditEvent{ID: w.ID, Verb: w.Operation, User: w.Who, Resource: cloudInstance, Name: w.Object, UserAgent: w.Agent, Code: w.Status, Received: w.At, Completed: w.At})
	}
	list, _, err := r.stage.StateWrites()
	for _, w := range list {
		if w.Who == stage.NameOperator {
			out = append(out, lab.AuditEvent{Verb: w.What, User: w.Who, Resource: storedState, Name: r.stage.Rec.Suffix, UserAgent: w.Agent, Code: w.Status, Received: w.At, Completed: w.At})
		}
	}
	return out, err
}

// The resources of a state on the server of a backend, with its lock: in a bucket each object is seen.
const (
	storedState  = "state"
	storedObject = "objects"
)

// cloudInstance is the resource of a database instance in a cloud.
const cloudInstance = "instances"

// prove matches writes to acts. What was refused or rehearsed changed nothing
// and needs no act.
func prove(events []lab.AuditEvent, acts []act) Proof {
	p := Proof{Acts: len(acts), Writes: []Write{}}
	wrote := make([]bool, len(acts))
	for _, e := range events {
		if !e.Persists() {
			continue
		}
		w := Write{At: e.Received, Verb: e.Verb, Object: e.Resource + " " + e.Namespace + "/" + e.Name, Agent: e.UserAgent}
		early := true
		for i, a := range acts {
			if a.names(e) {
				w.Act, wrote[i] = a.step, true
			}
			early = early && e.Received.Before(a.start)
		}
		if early && w.Act == "" {
			p.Before++
		}
		p.Writes = append(p.Writes, w)
	}
	for i, a := range acts {
		if a.done {
			p.Done++
		}
		if a.done && !wrote[i] && !unseen(a.kind) && !a.unlogged {
			p.Silent = append(p.Silent, a.step)
		}
	}
	p.OK = len(p.Unnamed()) == 0 && len(p.Silent) == 0
	return p
}
