package forge

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"handrail/steps"
)

// The grammars of what reaches an address.
const (
	repoName   = `[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){1,8}`
	branchName = `[A-Za-z0-9][A-Za-z0-9._+@#/-]{0,250}`
	runName    = `[A-Za-z0-9][A-Za-z0-9 ._/:@()-]{0,199}`
	numberForm = `[0-9]{1,18}`
	commitForm = `[0-9a-f]{40}|[0-9a-f]{64}`
)

const asks = "asks the forge that the environment names, with its token, by GET alone"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	repo := steps.Field{Name: "repo", Type: steps.String, Required: true, Pattern: repoName, Doc: "owner/name of the repository; of GitLab the path of the project"}
	which := []steps.Field{
		repo,
		{Name: "run", Type: steps.Ident, Pattern: numberForm, Doc: "number of the run in its address; of GitLab that of the pipeline"},
		{Name: "job", Type: steps.Ident, Pattern: numberForm, Doc: "number of the one job that is meant, of Gitea that of its task"},
		{Name: "commit", Type: steps.Ident, Pattern: commitForm, Doc: "commit whose newest run is meant, where no number is known"},
		{Name: "name", Type: steps.String, Pattern: runName, Doc: "name of its workflow, to tell the runs of one commit apart"},
	}
	kind := func(name, doc string, params, facts []steps.Field, read func(context.Context, asked) (steps.Observation, error), touches ...string) steps.Kind {
		return steps.Kind{Name: "forge/" + name, Class: steps.Probe, Doc: doc, Params: params, Facts: facts, Touches: append([]string{asks}, touches...),
			Reads: func(e steps.Env) steps.Prober { return probe{env: e, facts: facts, read: read} }}
	}
	kinds := []steps.Kind{
		kind("pull", "Reads a pull request: its commits, who approved which of them, what its branch asks for, its checks, and who owns the code. What the token may not see is unknown, never absent.",
			[]steps.Field{repo,
				{Name: "number", Type: steps.Int, Doc: "its number"},
				{Name: "branch", Type: steps.String, Pattern: branchName, Doc: "instead of a number: the branch of the repository itself, not of a fork, of whose pull requests the newest is read"},
			}, pullFacts(), readPull, "keeps its answers and the file of code owners"),
		kind("run", "Reads a run of CI: whether it is over, how it ended, which job and step failed, who began it, on which runner and commit.",
			which, runFacts(), readRun, "keeps its answers"),
		kind("log", "Reads the log of a job of CI to its end, keeps it, and says which step failed and with what error.",
			append(which, steps.Field{Name: "most", Type: steps.Int, Default: "256", Doc: "MiB of it that are read at most, up to 1024"}), logFacts(), readLog, "keeps the log"),
		kind("artifacts", "Lists the artifacts of a run of CI: size, digest, and whether they have expired.",
			append(which, steps.Field{Name: "artifact", Type: steps.String, Pattern: runName, Doc: "the one that is meant"}), artifactFacts(), readArtifacts),
	}
	kinds = append(kinds, steps.Kind{Name: "forge/comment", Class: steps.Repair, Params: commentParams(),
		Doc:     "Writes one comment below a pull request or an issue, and reads it again.",
		Touches: []string{"asks the forge that the environment names, with its token", "sends one POST with the comment that was shown"},
		Changes: func(e steps.Env) steps.Gater { return Commenter{Env: e} }})
	for i := range kinds {
		switch kinds[i].Name {
		case "forge/run":
			kinds[i].Covers = []string{"E1", "E3"}
		case "forge/log":
			kinds[i].Takes = func(steps.Params) time.Duration { return 5 * time.Minute } // some hundred MiB over a slow line
		}
	}
	return kinds
}

// probe is one of the kinds.
type probe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
	facts []steps.Field
	read  func(context.Context, asked) (steps.Observation, error)
}

// asked is what one reading has.
type asked struct {
	*client
	in  steps.Params
	out steps.Sink
	f   steps.Facts
	now time.Time
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	c, err := newClient(p.env, p.roots, out)
	if err != nil {
		return steps.Observation{}, err
	}
	defer c.done()
	now := time.Now
	if p.env.Now != nil {
		now = p.env.Now
	}
	if repo := in.Text("repo"); c.vendor != gitlab && strings.Count(repo, "/") != 1 {
		return steps.Observation{}, errors.New("repo: a repository of " + string(c.vendor) + " is owner/name, and has one slash")
	}
	obs, err := p.read(ctx, asked{c, in, out, steps.NewFacts(p.facts), now()})
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	return obs, err
}

// command is what a person could type for the same.
func (a asked) command(below string) string {
	header := "Authorization: Bearer $" + a.by
	switch a.vendor {
	case gitea:
		header = "Authorization: token $" + a.by
	case gitlab:
		header = "PRIVATE-TOKEN: $" + a.by
	}
	return `curl -sS -H "` + header + `" ` + steps.Quote(a.base.String()+below)
}

// keepAll hands the answers to the bundle.
func (a asked) keepAll(list []kept, obs *steps.Observation) {
	for _, k := range list {
		a.artifact(k.role, steps.MediaJSON, k.raw, obs)
	}
}

func (a asked) artifact(role, media string, raw []byte, obs *steps.Observation) {
	w := a.out.Artifact(strings.ReplaceAll(role, " ", "-"), media)
	_, err := w.Write(raw)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		obs.Gaps = append(obs.Gaps, "the artifact "+role+" was not kept whole: "+err.Error())
	}
}

// ident sets an identifier where it is known.
func (a asked) ident(name, value, why string) {
	if value == "" {
		a.f.Unknown(why, name)
		return
	}
	a.f.Set(name, steps.IdentOf(value))
}

// text sets a text where it is known.
func (a asked) text(name, value, why string) {
	if value == "" {
		a.f.Unknown(why, name)
		return
	}
	a.f.Set(name, steps.StringOf(value))
}

// time sets a time where it is known.
func (a asked) at(name string, at time.Time, why string) {
	if at.IsZero() {
		a.f.Unknown(why, name)
		return
	}
	a.f.Set(name, steps.TimeOf(at))
}

// enum sets a value where it is known.
func (a asked) enum(name, value, why string) {
	if value == "" {
		a.f.Unknown(why, name)
		return
	}
	a.f.Set(name, steps.EnumOf(value))
}
