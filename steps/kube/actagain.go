package kube

import "context"

const (
	// keyRest is what of an object may not move between reading and act.
	keyRest = "content but status"
	// mostTries bounds how often one act is sent: each time but the last it was
	// refused as a whole.
	mostTries = 3
)

// contentBut is a short digest of all of an object but what beats by itself.
func contentBut(o object, r resource) (string, error) {
	sum, err := contentSum(o, r)
	if err != nil {
		return "", err
	}
	return sum[:16], nil
}

// beats reports whether an object that refused an act has another version only
// because its status moved, and takes that version into the order. An object
// whose controller reports every few seconds could never be changed else. A
// Secret is not among them: its version stands for its values.
func beats(ctx context.Context, c *client, o *order) bool {
	if o.rest == "" || ctx.Err() != nil {
		return false
	}
	now, err := sightAt(ctx, c, *o)
	if err != nil || now.absent || now.other != "" || now.ResourceVersion == o.version || !matches(versionText, now.ResourceVersion) {
		return false
	}
	is, err := parseObject(now.raw)
	if err != nil {
		return false
	}
	if same, err := contentBut(is, resource{}); err != nil || same != o.rest {
		return false
	}
	o.version = now.ResourceVersion
	return true
}
