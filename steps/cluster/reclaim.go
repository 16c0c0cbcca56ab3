package cluster

import (
	"context"
	"fmt"

	"handrail/steps"
)

// Reclaims says what becomes of the content of a volume once it, or the claim that is
// bound to it, is deleted: Retain or Delete, as the volume that lives says. "" is neither
// a volume nor a claim.
func (l *Looker) Reclaims(ctx context.Context, s Sought, namespace, name string) (policy string, err error) {
	r, err := l.find(ctx, s)
	if err != nil || r.Group != "" || r.Plural != "persistentvolumes" && r.Plural != "persistentvolumeclaims" {
		return "", err
	}
	space := spaceOf(r, namespace)
	if space != "" && !Plain(space) || !Plain(name) {
		return "", fmt.Errorf("%q can be no name of an object", steps.Clip(name, 100))
	}
	o, err := l.c.Get(ctx, r, space, name)
	if err != nil {
		return "", err
	}
	if r.Plural == "persistentvolumeclaims" {
		volume := specOf(o, "volumeName")
		if volume == "" {
			return "", fmt.Errorf("the claim %s is bound to no volume", name)
		}
		if !Plain(volume) {
			return "", fmt.Errorf("%q can be no name of a volume", steps.Clip(volume, 100))
		}
		if r, err = l.c.Find(ctx, "persistentvolumes"); err != nil {
			return "", err
		}
		if o, err = l.c.Get(ctx, r, "", volume); err != nil {
			return "", err
		}
	}
	if policy = specOf(o, "persistentVolumeReclaimPolicy"); policy == "" {
		return "", fmt.Errorf("the volume of %s does not say what becomes of it", name)
	}
	return steps.Clip(policy, 40), nil
}

func specOf(o Object, key string) string {
	spec, _ := o.Object["spec"].(map[string]any)
	text, _ := spec[key].(string)
	return text
}
