package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/session/audit"
	"handrail/steps/catalog"
	"handrail/triage"
)

// verdict is what verify says: the bytes first, then the laws.
type verdict struct {
	Path    string          `json:"path"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"` // nothing failed; a line may still be unproven
	Entries int64           `json:"entries"`
	Head    string          `json:"head"`
	Root    string          `json:"root"`
	Lines   []evidence.Line `json:"lines"`

	Handling *handling `json:"handling,omitempty"` // beside the bundle; it counts for nothing
}

// lawsOfLoop is the property of a bundle whose story could not be judged.
const lawsOfLoop = "laws of the loop"

// brought is what the caller of verify knows and the bundle cannot.
type brought struct {
	signers  string
	signedBy []string
	anchors  []string
	posted   string
	from     string
	tsa      string
	policy   string
}

func bundleVerify(p *process.Program) *cobra.Command {
	var with brought
	cmd := &cobra.Command{
		Use: "verify BUNDLE", Short: "Verify everything in a bundle; exits with 0 or 7",
		Long: `verify trusts nothing that is stored: it recomputes every hash and every root from
the bytes on disk, folds the journal again and judges every gate again from the
runbook that is stored in the bundle. It asks no network and changes nothing in it;
beside it, its handling log says that it was verified.

Each property has a line of its own: ok is what was proven, ? is what the bundle
says and nothing contradicts, FAIL is what does not hold. Whose signature counts
stands in an allowed_signers file as of ssh-keygen: --allowed-signers, or else
allowed_signers in handrail's configuration directory. A line that was posted when
it happened proves that nothing before it was changed or cut since.

A packed bundle (.tar or .tar.gz) is unpacked into a temporary directory, verified,
and removed again.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().StringVar(&with.signers, "allowed-signers", "", "whose signatures count: this allowed_signers `file`")
	cmd.Flags().StringArrayVar(&with.signedBy, "signed-by", nil, "fail unless this `person` of the allowed signers signed the newest seal; repeatable")
	cmd.Flags().StringArrayVar(&with.anchors, "anchor", nil, "fail unless the bundle extends this posted `line`; repeatable")
	cmd.Flags().StringVar(&with.posted, "anchors", "", "the same for each such line about this bundle in a `file`, the export of a chat say")
	cmd.Flags().StringVar(&with.from, "from", "", "fail unless the bundle was redacted again from this old `bundle`, and differs in nothing but hidden values")
	cmd.Flags().StringVar(&with.policy, "policy", "", "fail where an act lacks the second person that this policy `file` asks for")
	cmd.Flags().StringVar(&with.tsa, "tsa-ca", "", "fail unless the newest seal has a time stamp that leads to a root in this `file` of PEM certificates")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, done, err := openable(p, args[0])
		if err != nil {
			return err
		}
		defer done()
		policy, err := policy(p, with, path)
		if err != nil {
			return err
		}
		if with.from != "" {
			from, closeFrom, err := openable(p, with.from)
			if err != nil {
				return err
			}
			defer closeFrom()
			policy.From = from
		}
		by := audit.Verifier{Signers: settings.Approvers(p, policy.Signers)}
		if with.policy != "" {
			if by.Policy, err = settings.HoldTo(p, with.policy); err != nil {
				return process.Usage("name a policy file that handrail reads", "--policy: %w", err)
			}
		}
		v, err := verifyBy(path, policy, by)
		if err != nil {
			return err
		}
		v.Path = args[0]
		if !packed(args[0]) {
			v.Handling = handlingOf(path)
		}
		err = o.Print(p, v, func() error { return printVerdict(p.Stdout, v) })
		result := "verified"
		if err == nil && !v.OK {
			err, result = process.Ended(process.ExitTampered), "NOT verified"
		}
		if !packed(args[0]) {
			handled(p, path, evidence.Handling{What: "verify", Result: result}, err)
		}
		return err
	}
	return cmd
}

// packed reports whether a bundle is given as an archive, beside which nothing
// is written down.
func packed(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// absolute names a file from the root, "" for none.
func absolute(file string) string {
	if file == "" {
		return ""
	}
	if whole, err := filepath.Abs(file); err == nil {
		return whole
	}
	return file
}

// openable is find, and unpacks an archive into a directory that done removes.
func openable(p *process.Program, name string) (path string, done func(), err error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		path, err := Find(p, name)
		return path, nothing, err
	}
	dir, err := os.MkdirTemp("", "handrail-verify-")
	if err != nil {
		return "", nothing, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	f, err := os.Open(name)
	if err == nil {
		path, err = evidence.Unpack(f, dir)
		err = errors.Join(err, f.Close())
	}
	if err != nil && strings.HasSuffix(name, ".age") {
		done()
		return "", nothing, &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("archive %q: %w", name, err), Next: "decrypt it first with age -d -i KEY; handrail holds no keys of recipients"}
	}
	if err != nil {
		done()
		return "", nothing, &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("archive %q: %w", name, err), Next: "nothing of it was kept; ask the sender for a tar that handrail packed"}
	}
	return path, done, nil
}

// policy gathers what the caller brought along.
func policy(p *process.Program, b brought, path string) (evidence.Policy, error) {
	out := evidence.Policy{SignedBy: b.signedBy}
	file, asked := b.signers, b.signers != ""
	if !asked {
		dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
		if err == nil {
			file = filepath.Join(dir, "allowed_signers")
		}
	}
	if file != "" {
		s, err := sig.LoadSigners(file)
		switch {
		case err == nil:
			out.Signers = s
		case asked || !errors.Is(err, fs.ErrNotExist):
			return out, process.Usage("fix the file; no signature counts until then", "%w", err)
		}
	}
	if b.tsa != "" {
		a, err := sig.LoadAuthorities(b.tsa)
		if err != nil {
			return out, process.Usage("name the root of the authority, in PEM", "--tsa-ca: %w", err)
		}
		out.Authorities = a
	}
	for _, line := range b.anchors {
		c, err := evidence.ParseAnchor(line)
		if err != nil {
			return out, process.Usage("copy the line whole, as it was posted", "--anchor: %w", err)
		}
		out.Anchors = append(out.Anchors, c)
	}
	if b.posted == "" {
		return out, nil
	}
	more, err := postedLines(b.posted, path)
	out.Anchors = append(out.Anchors, more...)
	return out, err
}

const maxPosted = 64 << 20

// postedLines finds the anchors of a bundle in a text in which much else may stand.
func postedLines(file, path string) ([]evidence.Checkpoint, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, process.Usage("name a text file", "--anchors: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxPosted))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	id := r.Meta().ID
	if err := r.Close(); err != nil {
		return nil, err
	}
	var out []evidence.Checkpoint
	for line := range strings.Lines(string(raw)) {
		i := strings.Index(line, evidence.AnchorWord+" ")
		if i < 0 {
			continue
		}
		words := strings.Fields(line[i:])
		c, err := evidence.ParseAnchor(strings.Join(words[:min(4, len(words))], " "))
		if err == nil && c.ID == id {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, process.Usage("look for lines that begin with "+evidence.AnchorWord, "%q has no line about bundle %q", file, id)
	}
	return out, nil
}

func verify(path string, policy evidence.Policy, approvers *sig.Signers) (verdict, error) {
	return verifyBy(path, policy, audit.Verifier{Signers: approvers})
}

func verifyBy(path string, policy evidence.Policy, by audit.Verifier) (verdict, error) {
	policy.Types = triage.IsEvent
	r, err := policy.Verify(path)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Path: r.Path, ID: r.ID, OK: r.OK(), Entries: r.Entries, Head: r.Head, Root: r.Root, Lines: r.Lines}
	if r.Entries == 0 { // nothing to fold, or too much to look at
		v.Lines = append(v.Lines, evidence.Line{Property: lawsOfLoop, Verdict: evidence.Failed, Detail: "not judged: there is no good entry"})
		return v, nil
	}
	laws, err := audit.Bundle(path, catalog.New(), by)
	if err != nil {
		// What cannot be audited is not verified; why, the bytes may say above.
		v.OK = false
		v.Lines = append(v.Lines, evidence.Line{Property: lawsOfLoop, Verdict: evidence.Failed, Detail: err.Error()})
		return v, nil
	}
	v.OK = v.OK && laws.OK()
	for _, l := range laws.Lines {
		line := evidence.Line{Property: l.Property, Verdict: evidence.Proven, Detail: l.Detail}
		if l.Said {
			line.Verdict = evidence.Unproven
		}
		if !l.OK {
			line.Verdict = evidence.Failed
			if r.Of(evidence.PropertyAgain) != "" {
				line.Detail += "; this bundle was redacted again, and what gates were judged from may be hidden now: the bundle that it was made from can show"
			}
		}
		v.Lines = append(v.Lines, line)
	}
	return v, nil
}

func printVerdict(w io.Writer, v verdict) error {
	unproven := 0
	for _, l := range v.Lines {
		mark := "FAIL"
		switch l.Verdict {
		case evidence.Proven:
			mark = "ok  "
		case evidence.Unproven:
			mark = "?   "
			unproven++
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, process.Safe(l.Property), process.Safe(l.Detail))
	}
	if h := v.Handling; h != nil {
		fmt.Fprintf(w, "note  handling: %s\n", process.Safe(h.Detail))
	}
	var err error
	switch {
	case !v.OK:
		_, err = fmt.Fprintf(w, "%s: NOT verified: this bundle proves nothing as it is, %d entries\n", process.Safe(v.Path), v.Entries)
	case unproven > 0:
		_, err = fmt.Fprintf(w, "%s: verified, %d entries; only the bundle itself vouches for what is marked ?\n", process.Safe(v.Path), v.Entries)
	default:
		_, err = fmt.Fprintf(w, "%s: verified, %d entries\n", process.Safe(v.Path), v.Entries)
	}
	return err
}
