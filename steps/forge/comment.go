package forge

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	keyTopic   = "below"
	keyText    = "text SHA-256"
	keyComment = "comment"
	mostText   = 16 << 10
)

func commentParams() []steps.Field {
	return []steps.Field{
		{Name: "repo", Type: steps.String, Required: true, Pattern: repoName, Doc: "owner/name of the repository; of GitLab the path of the project"},
		{Name: "number", Type: steps.Int, Required: true, Doc: "number of the pull request or the issue"},
		{Name: "issue", Type: steps.Bool, Default: "false", Doc: "whether the number is that of an issue"},
		{Name: "text", Type: steps.String, Required: true, Doc: "what the comment says, as Markdown"},
	}
}

// Commenter is the gate that writes one comment below a pull request or an issue.
type Commenter struct {
	Env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// below is where a comment goes.
type below struct {
	repo   string
	number int64
	issue  bool
}

func (b below) String() string {
	if b.issue {
		return fmt.Sprintf("issue %d of %s", b.number, b.repo)
	}
	return fmt.Sprintf("pull request %d of %s", b.number, b.repo)
}

type commentArgs struct {
	at    place
	below below
	text  string
	order order
}

// Preview implements steps.Gater.
func (g Commenter) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	c, err := newClient(g.Env, g.roots, out)
	if err != nil {
		return steps.Preview{}, err
	}
	defer c.done()
	to, text := below{in.Text("repo"), in.Int("number"), in.Bool("issue")}, strings.TrimSpace(in.Text("text"))
	t, err := c.topic(ctx, to.repo, to.number, to.issue)
	if err != nil {
		return steps.Preview{}, fmt.Errorf("%s: %w", to, err)
	}
	sum := sha256.Sum256([]byte(text))
	who := orElse(c.account(ctx), "the account of "+c.by)
	o := commentOrder(c.vendor, to.repo, to.number, to.issue, text)
	p := steps.Preview{
		Target:  []steps.KV{{Key: keyForge, Value: c.base.String()}, {Key: keyTopic, Value: to.String()}, {Key: keyText, Value: hex.EncodeToString(sum[:])}},
		Shown:   []steps.KV{{Key: "title", Value: t.title}, {Key: keyState, Value: t.state}, {Key: "page", Value: t.url}, {Key: "as", Value: who}},
		Effect:  fmt.Sprintf("write this text below %s as %s. All who may read the repository can read it, and subscribers get it by mail.", to, who),
		Request: o.String(),
		Command: asked{client: c}.command(o.below) + " -d @-",
		Phrase:  steps.Phrase("comment", fmt.Sprintf("%s:%d", to.repo, to.number)),
		Undo:    "Delete the comment. Mails that were sent stay sent.",
		Args:    commentArgs{c.place, to, text, o},
	}
	for line := range strings.Lines(text) {
		p.Diff = append(p.Diff, "+ "+strings.TrimRight(line, "\r\n"))
	}
	switch {
	case text == "":
		p.Unmet = append(p.Unmet, steps.Need{Why: "The text is empty.", Cure: "say what the comment is to say", Of: "text"})
	case len(text) > mostText:
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf("The text has %d bytes, and more than %d are not sent.", len(text), mostText), Cure: "link to it instead", Of: "text"})
	}
	return p, nil
}

// Act implements steps.Gater.
func (g Commenter) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[commentArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	out.Secret(args.at.token)
	return transport.Settled(args.at.send(ctx, g.Env, g.roots, []order{args.order}), func() (steps.Outcome, error) {
		return g.look(ctx, args.below, steps.Find(p.Target, keyText), out)
	})
}

// Find implements steps.Finder.
func (g Commenter) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.look(ctx, below{in.Text("repo"), in.Int("number"), in.Bool("issue")}, steps.Find(before, keyText), out)
}

// look finds a comment by the digest of its text.
func (g Commenter) look(ctx context.Context, to below, digest string, out steps.Sink) (steps.Outcome, error) {
	c, err := newClient(g.Env, g.roots, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	defer c.done()
	o := steps.Outcome{Result: steps.Failed, Response: "No comment with this text is below " + to.String() + "."}
	err = c.each(ctx, commentOrder(c.vendor, to.repo, to.number, to.issue, "").below, "", func(raw []byte) (page, error) {
		list, err := parseComments(raw)
		for _, is := range list {
			if sum := sha256.Sum256([]byte(strings.TrimSpace(is.Body))); hex.EncodeToString(sum[:]) == digest {
				o = steps.Outcome{Result: steps.Done, Response: "The comment is there: " + words(orElse(is.Page, to.String())),
					After: []steps.KV{{Key: keyTopic, Value: to.String()}, {Key: keyComment, Value: count(is.ID)}, {Key: "page", Value: words(is.Page)}}}
			}
		}
		return page{len(list), -1}, err
	})
	return o, err
}

// note is one comment.
type note struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	Page string `json:"html_url"` // GitLab tells none
}

func parseComments(raw []byte) ([]note, error) {
	var in []note
	err := decode(raw, &in)
	return in, err
}
