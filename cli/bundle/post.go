package bundle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/evidence/redact"
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/steps"
	"handrail/steps/catalog"
)

func bundlePost(p *process.Program) *cobra.Command {
	var link string
	var issue bool
	cmd := &cobra.Command{
		Use: "post BUNDLE OWNER/NAME NUMBER", Short: "Comment on a pull request or an issue with the digest of a sealed bundle",
		Long: `post writes one comment below pull request NUMBER of OWNER/NAME on your forge, for the
debrief: what the incident came to, where its evidence is, and the line that stands for
the sealed bundle, by which a copy of it can be checked. The bundle is verified first.

It shows the comment and asks you to type a phrase. The forge is the one that the
environment names, as for the probes forge/*, and the token must be one that may comment.
What was posted stands in the handling log beside the bundle.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident", "a repository: OWNER/NAME", "the NUMBER of the pull request"),
	}
	cmd.Flags().StringVar(&link, "link", "", "where the bundle lies for others, as an `address`")
	cmd.Flags().BoolVar(&issue, "issue", false, "NUMBER is that of an issue")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		number, err := steps.ParseValue(steps.Int, args[2])
		if err != nil || number.Int() < 1 {
			return process.Usage("give the number as it stands in the address of the pull request", "%q is no number", args[2])
		}
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		text, at, err := debrief(p, path, link)
		if err != nil {
			return err
		}
		in := steps.Params{"repo": steps.StringOf(args[1]), "number": number, "issue": steps.BoolOf(issue), "text": steps.StringOf(text)}
		done, err := postConfirmed(cmd.Context(), p, at.ID, in)
		if process.ExitCode(err) != process.ExitUsage {
			handled(p, path, evidence.Handling{What: "post", Place: args[1] + " " + args[2], Result: done}, err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Stdout, process.Safe(done))
		return err
	}
	return cmd
}

// debrief is the comment on a sealed bundle that verifies.
func debrief(p *process.Program, path, link string) (string, evidence.Checkpoint, error) {
	r, err := evidence.Verify(path)
	if err != nil {
		return "", evidence.Checkpoint{}, err
	}
	at := evidence.Checkpoint{ID: r.ID, Entries: r.Entries, Root: r.Root}
	switch {
	case !r.OK():
		return "", at, &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("bundle %q does not verify", path), Next: "see `handrail bundle verify " + path + "`"}
	case !r.Sealed():
		return "", at, process.Usage("seal it first: `handrail bundle seal "+r.ID+"`", "bundle %s is not sealed, or something came after the seal", r.ID)
	}
	if link != "" {
		if u, err := url.Parse(link); err != nil || u.Scheme == "" || u.User != nil || u.RawQuery != "" || strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r == '`' }) {
			return "", at, process.Usage("give a plain address; one that is signed in opens the bundle to all who read the comment", "--link has credentials or a query in it, or is no address")
		}
	}
	st, err := journal.LoadState(path)
	if err != nil {
		return "", at, err
	}
	var b strings.Builder
	b.WriteString("What the incident came to:\n\n")
	for line := range strings.Lines(report.Status(st)) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimRight(line, "\n")) // as it is, whatever Markdown makes of it
	}
	if link != "" {
		fmt.Fprintf(&b, "\nEvidence: <%s>\n", link)
	}
	fmt.Fprintf(&b, "\nThis line stands for the sealed bundle (%d entries):\n\n    %s\n\nCheck a copy with `handrail bundle verify BUNDLE --anchor LINE`.\n", at.Entries, at.Line())
	team, err := settings.TeamRules(p)
	if err != nil {
		return "", at, err
	}
	s, err := redact.NewScrubber(settings.KnownSecrets(p), team)
	if err != nil {
		return "", at, err
	}
	if s.Text(b.String()) != b.String() {
		return "", at, process.Usage("leave it out of --link", "the comment would have a secret in it")
	}
	return b.String(), at, nil
}

// postConfirmed previews the comment, takes the phrase and writes it, and says where it is.
func postConfirmed(ctx context.Context, p *process.Program, incident string, in steps.Params) (string, error) {
	k, ok := catalog.New().Lookup("forge/comment")
	if !ok {
		return "", errors.New("this program has no kind forge/comment")
	}
	for _, f := range k.Params {
		if f.Name == "repo" && !regexp.MustCompile("^(?:"+f.Pattern+")$").MatchString(in.Text("repo")) {
			return "", process.Usage("name the repository as OWNER/NAME", "%q is no repository", in.Text("repo"))
		}
	}
	env, err := p.Env()
	if err != nil {
		return "", err
	}
	env.Version = process.BuildVersion().String()
	g, out := k.Changes(env), steps.SecretsOnly(nil)
	shown, err := g.Preview(ctx, in, out)
	if err != nil {
		return "", process.Hint(err, "look at the address of the pull request and at the token: `handrail step show forge/pull`")
	}
	if len(shown.Unmet) > 0 {
		return "", &process.Problem{Code: process.ExitRefused, Err: errors.New(shown.Unmet[0].Why), Next: shown.Unmet[0].Cure}
	}
	showComment(p.Stderr, shown)
	typed, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the phrase: %w", err)
	}
	fresh, err := g.Preview(ctx, in, out)
	if err != nil {
		return "", err
	}
	a, err := steps.Confirm(fresh, incident, "post", shown.Digest(incident, "post"), strings.TrimRight(typed, " \t\r\n"))
	if err != nil {
		return "", &process.Problem{Code: process.ExitRefused, Err: fmt.Errorf("nothing was sent: %w", err), Next: "type the phrase exactly as it is shown"}
	}
	o, err := g.Act(ctx, a, out)
	switch {
	case err != nil:
		return "", process.Hint(fmt.Errorf("whether the comment was written is not known: %w", err), "look at the pull request before you post again")
	case o.Result != steps.Done:
		return "", &process.Problem{Code: process.ExitRefused, Err: errors.New(o.Response), Next: "use a token that may comment"}
	}
	return o.Response, nil
}

func showComment(w io.Writer, shown steps.Preview) {
	for _, kv := range append(shown.Target, shown.Shown...) {
		fmt.Fprintf(w, "%s: %s\n", kv.Key, process.Safe(kv.Value))
	}
	fmt.Fprintln(w)
	for _, line := range shown.Diff {
		fmt.Fprintln(w, process.Safe(line))
	}
	fmt.Fprintf(w, "\nThis will %s\n%s\nTo write it, type: %s\nphrase> ", process.Safe(shown.Effect), process.Safe(shown.Undo), process.Safe(shown.Phrase))
}
