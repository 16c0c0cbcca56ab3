// Package propose opens a pull request that brings Git to what is live of an application: the change that
// [gitops.Adopt] makes and proves, written by the gate of [forge.Proposer]. It stands above both worlds, since the forge
// reads no cluster and the cluster no forge.
//
// The change is made anew for the preview and for the look just before the act, so that a field which moved in between
// gives another digest, and nothing is sent.
package propose

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/forge"
	"handrail/steps/gitops"
	"handrail/steps/gitops/app"
)

// Kinds returns the step kind of this package.
func Kinds() []steps.Kind {
	for _, k := range gitops.Kinds() {
		if k.Name != "gitops/adopt" {
			continue
		}
		return []steps.Kind{{
			Name: "forge/propose", Class: steps.Repair,
			Doc: "Opens a pull request that brings Git to what is live of an application: one commit on a new branch, proven by rendering it, " +
				"for a base branch that stands at the very commit. It merges nothing. Refuses where the token may not write, where the files on the forge are others, and where the same change is open already.",
			Params: append(k.Params, forge.ProposeParams()...),
			Touches: append(k.Touches, "asks the forge that the environment names, with its token",
				"sends the requests that were shown, each once: a commit on a new branch, and a pull request"),
			Rights:  k.Rights,
			Changes: func(e steps.Env) steps.Gater { return forge.Proposer{Env: e, Make: adopted} },
		}}
	}
	return nil
}

// adopted is a [forge.Source].
func adopted(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (forge.Proposal, error) {
	red, is := out.(steps.RedactingSink)
	if !is {
		return forge.Proposal{}, errors.New("nothing tells what is a secret here, and the change would leave the machine")
	}
	a, err := gitops.Adopt(ctx, env, in, out)
	switch {
	case err != nil:
		return forge.Proposal{}, err
	case !a.Exists:
		return forge.Proposal{}, fmt.Errorf("there is no %s %s", in.Text("resource"), in.Text("name"))
	case a.Why != "":
		return forge.Proposal{}, errors.New("no change can be made: " + a.Why)
	}
	// The files were held against what is hidden. The text has words of the renderer besides, which may quote a value.
	body, err := red.Redacted(steps.MediaText, []byte(a.Text(a.App.String())))
	if err != nil {
		return forge.Proposal{}, err
	}
	p := forge.Proposal{Commit: app.Commit(a.Commit), Branch: a.Branch(), Title: fmt.Sprintf("Take over what is live of %s", a.App), Body: string(body), Patch: a.Patch(), Left: a.Unread}
	for _, f := range a.Files {
		p.Files = append(p.Files, forge.DraftFile{Path: f.Path, Was: f.Was, Is: f.Is})
	}
	for _, l := range a.Left {
		p.Left = append(p.Left, l.String())
	}
	return p, nil
}
