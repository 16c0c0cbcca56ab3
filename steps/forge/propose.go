package forge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// What a proposal holds to.
const (
	keyForge    = "forge"
	keyRepo     = "repository"
	keyBase     = "base branch"
	keyCommit   = "base commit"
	keyBranch   = "new branch"
	keyFiles    = "files"
	keyPatch    = "patch" // its SHA-256
	keyPull     = "pull request"
	keyState    = "state"
	mostPatched = 400 // lines of a patch that are shown
)

// Proposal is what a [Source] wants on a branch.
type Proposal struct {
	Commit string // that it was made from
	Branch string // that is made for it
	Title  string
	Body   string // Markdown
	Patch  []byte // for the person who reads it
	Files  []DraftFile
	Left   []string // what it leaves out, each with why
}

// Source makes a proposal by the parameters of a step.
type Source func(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (Proposal, error)

// ProposeParams are the parameters of a gate that opens a pull request, besides those of its source.
func ProposeParams() []steps.Field {
	return []steps.Field{
		{Name: "repo", Type: steps.String, Required: true, Pattern: repoName, Doc: "owner/name of the repository; of GitLab the path of the project"},
		{Name: "base", Type: steps.String, Default: "main", Pattern: branchName, Doc: "branch that it goes to"},
	}
}

// Proposer is the gate that opens a pull request with what a source makes: one commit on a new branch, and nothing merged.
type Proposer struct {
	Env   steps.Env
	Make  Source
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// proposeArgs are what Act works from.
type proposeArgs struct {
	at     place
	draft  Draft
	orders []order
}

// Preview implements steps.Gater.
func (g Proposer) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	made, err := g.Make(ctx, g.Env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	c, err := newClient(g.Env, g.roots, out)
	if err != nil {
		return steps.Preview{}, err
	}
	defer c.done()
	sum := sha256.Sum256(made.Patch)
	digest := hex.EncodeToString(sum[:])
	d := Draft{Repo: in.Text("repo"), Base: in.Text("base"), Commit: made.Commit, Branch: made.Branch, Title: made.Title, Body: g.body(made), Files: made.Files}
	p := steps.Preview{
		Target: []steps.KV{{Key: keyForge, Value: c.base.String()}, {Key: keyRepo, Value: d.Repo}, {Key: keyBase, Value: d.Base}, {Key: keyCommit, Value: d.Commit},
			{Key: keyBranch, Value: d.Branch}, {Key: keyPatch, Value: digest}, {Key: keyFiles, Value: namesOf(d.Files)}},
		Phrase: steps.Phrase("propose", d.Repo+":"+d.Base),
		Undo:   "Close the pull request and delete its branch: nothing is merged.",
		Diff:   shownPatch(made.Patch),
	}
	if len(d.Files) == 0 {
		p.Unmet = append(p.Unmet, steps.Need{Why: "There is nothing to propose: Git has what is live, or what differs is left out.", Cure: "read what was left out, and write it by hand"})
	}
	for _, why := range made.Left {
		p.Shown = append(p.Shown, steps.KV{Key: "left out", Value: why})
	}
	who := c.account(ctx)
	p.Shown = append(p.Shown, steps.KV{Key: "as", Value: orElse(who, "the account of "+c.by)}, steps.KV{Key: "title", Value: d.Title})
	p.Effect = fmt.Sprintf("open a pull request in %s from %s to %s as %s, with %d of its files changed. It merges nothing. Reviewers are told, and the CI of the repository runs.",
		d.Repo, d.Branch, d.Base, orElse(who, "the account of "+c.by), len(d.Files))
	orders := d.orders(c.vendor)
	var lines []string
	for _, o := range orders {
		lines = append(lines, o.String())
	}
	p.Request = strings.Join(lines, "\n")
	p.Command = fmt.Sprintf("git switch -c %s %s && git apply PATCH && git commit -am %s && git push origin %s", d.Branch, d.Commit, steps.Quote(d.Title), d.Branch)
	if err := g.floors(ctx, c, d, &p); err != nil {
		return steps.Preview{}, err
	}
	p.Args = proposeArgs{c.place, d, orders}
	return p, nil
}

// floors are what must hold on the forge before anything is written there.
func (g Proposer) floors(ctx context.Context, c *client, d Draft, p *steps.Preview) error {
	need := func(cure, why string, of ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(why, of...), Cure: cure})
	}
	if len(d.Commit) != 40 {
		need("write the pull request by hand with the saved patch", "Commit %s is no SHA-1: how the forge names the content of a file is not known.", steps.Clip(d.Commit, 80))
	}
	may, known, err := c.mayPush(ctx, d.Repo)
	if err != nil {
		return fmt.Errorf("repository %s: %w", d.Repo, err)
	}
	if known && !may {
		need("hand the saved patch to a person who may", "The token in %s may not write to %s.", c.by, d.Repo)
	}
	at, err := c.branchAt(ctx, d.Repo, d.Base)
	switch {
	case errors.Is(err, errNotSeen):
		need("name the branch with the parameter base", "%s has no branch %s that the token sees.", d.Repo, d.Base)
	case err != nil:
		return fmt.Errorf("branch %s of %s: %w", d.Base, d.Repo, err)
	case at != d.Commit:
		need("fetch, wait until the controller has compared with it, and read again", "%s of %s is at %s, and the change was made for %s.", d.Base, d.Repo, at[:12], steps.Clip(d.Commit, 12))
	}
	for _, f := range d.Files {
		now, err := c.fileAt(ctx, d.Repo, d.Base, f.Path)
		switch {
		case errors.Is(err, errNotSeen) || err == nil && !bytes.Equal(now, f.Was):
			need("name the repository that the application is delivered from", "%s of %s on the forge is not the file that the change was made for.", f.Path, d.Repo)
		case err != nil:
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
	}
	number, err := c.reader().pullOf(ctx, d.Repo, d.Branch)
	if err != nil {
		return fmt.Errorf("pull requests of %s: %w", d.Repo, err)
	}
	if number > 0 {
		need("review and merge that one", "Pull request %d of %s has this very change already.", number, d.Repo)
	} else if _, err := c.branchAt(ctx, d.Repo, d.Branch); err == nil {
		need("open a pull request from it, or delete it and read again", "Branch %s is in %s already, without a pull request.", d.Branch, d.Repo)
	} else if !errors.Is(err, errNotSeen) {
		return fmt.Errorf("branch %s of %s: %w", d.Branch, d.Repo, err)
	}
	return nil
}

// body is the text of the pull request, with what it is left to a person.
func (g Proposer) body(made Proposal) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(made.Body, "\n") + "\n")
	if g.Env.Incident != "" {
		fmt.Fprintf(&b, "\nOpened by handrail in incident %s.\n", g.Env.Incident)
	}
	return b.String()
}

// Act implements steps.Gater.
func (g Proposer) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[proposeArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	out.Secret(args.at.token)
	sent := args.at.send(ctx, g.Env, g.roots, args.orders)
	o, err := transport.Settled(sent, func() (steps.Outcome, error) { return g.look(ctx, args.draft, out) })
	if half := (*HalfError)(nil); err == nil && errors.As(sent, &half) {
		o.Result, o.Response = steps.Failed, sent.Error()+fmt.Sprintf(" Branch %s may be in %s: open the pull request from it, or delete it.", args.draft.Branch, args.draft.Repo)
	}
	return o, err
}

// look reads what became of a draft.
func (g Proposer) look(ctx context.Context, d Draft, out steps.Sink) (steps.Outcome, error) {
	c, err := newClient(g.Env, g.roots, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	defer c.done()
	o := steps.Outcome{Result: steps.Failed}
	number, err := c.reader().pullOf(ctx, d.Repo, d.Branch)
	if err != nil {
		return o, err
	}
	if number == 0 {
		o.Response = "No pull request from " + d.Branch + " is there."
		return o, nil
	}
	t, err := c.topic(ctx, d.Repo, number, false)
	if err != nil {
		return o, err
	}
	at, err := c.branchAt(ctx, d.Repo, d.Branch)
	if err != nil {
		return o, err
	}
	o.After = []steps.KV{{Key: keyPull, Value: count(number)}, {Key: keyState, Value: t.state}, {Key: "page", Value: t.url}, {Key: keyBranch, Value: d.Branch}, {Key: "its commit", Value: at}}
	for _, f := range d.Files {
		if now, err := c.fileAt(ctx, d.Repo, d.Branch, f.Path); err != nil {
			return o, err
		} else if !bytes.Equal(now, f.Is) {
			o.Response = fmt.Sprintf("Pull request %d is there, and %s in it is not what was approved. Close it.", number, f.Path)
			return o, nil
		}
	}
	o.Result, o.Response = steps.Done, fmt.Sprintf("Pull request %d of %s is %s: %s", number, d.Repo, t.state, t.url)
	return o, nil
}

// Find implements steps.Finder. What the files were to become is not in the journal: their commit is shown instead.
func (g Proposer) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	d := Draft{Repo: steps.Find(before, keyRepo), Base: steps.Find(before, keyBase), Branch: steps.Find(before, keyBranch)}
	if d.Repo == "" || d.Branch == "" {
		return steps.Outcome{}, errors.New("the journal does not name the repository and the branch")
	}
	return g.look(ctx, d, out)
}

func namesOf(files []DraftFile) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	return steps.Clip(strings.Join(names, ", "), 2000)
}

// shownPatch are the lines of a patch that a person reads: the file names and what changes.
func shownPatch(patch []byte) []string {
	var out []string
	for line := range strings.Lines(string(patch)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "+++ b/"):
			line = strings.TrimPrefix(line, "+++ b/")
		case strings.HasPrefix(line, "--- ") || line == "" || line[0] == ' ' || line[0] == '@' || strings.HasPrefix(line, "diff "):
			continue
		case len(out) == mostPatched:
			return append(out, "... more lines")
		}
		out = append(out, line)
	}
	return out
}
