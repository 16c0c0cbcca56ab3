package terraform

import (
	"encoding/json"
	"fmt"

	"handrail/steps"
)

// giveBack is what gives a lock back that was taken from a run which turns out
// to live. The server refuses it once somebody else holds the lock.
func (t subject) giveBack() *steps.Prior {
	k, ok := t.s.(*kubernetes)
	var lease struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			HolderIdentity string `json:"holderIdentity"`
		} `json:"spec"`
	}
	if !ok || !t.lock.held || json.Unmarshal(t.lock.raw, &lease) != nil || lease.Spec.HolderIdentity == "" {
		return nil
	}
	raw, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/spec/holderIdentity", "value": nil},
		{"op": "add", "path": "/spec/holderIdentity", "value": lease.Spec.HolderIdentity},
		{"op": "add", "path": "/metadata/annotations", "value": lease.Metadata.Annotations},
	})
	if err != nil {
		return nil
	}
	o := k.lease()
	return &steps.Prior{
		Media: steps.MediaJSON, Raw: raw, Optional: true,
		Back: fmt.Sprintf("kubectl --server %s -n %s patch %s %s --type=json --patch-file /dev/stdin", steps.Quote(k.client.base), steps.Quote(o.namespace), o.resource, steps.Quote(o.name)),
	}
}
