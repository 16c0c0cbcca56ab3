package bundle

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/session"
	"handrail/triage"
)

// sealReport is the public form of a seal.
type sealReport struct {
	Path      string `json:"path"`
	ID        string `json:"id"`
	Seal      string `json:"seal"` // the checkpoint file
	Entries   int64  `json:"entries"`
	Root      string `json:"root"`
	Anchor    string `json:"anchor"`
	Before    bool   `json:"before"`        // it was sealed already
	Signature string `json:"signature"`     // "" for none
	Key       string `json:"redaction_key"` // destroyed, escrowed, or "" when it was left
	Escrow    string `json:"escrow"`        // where an escrowed one was put
}

func bundleSeal(p *process.Program) *cobra.Command {
	var key KeyChoice
	var keep bool
	cmd := &cobra.Command{
		Use: "seal BUNDLE", Short: "Seal a bundle, and sign the seal",
		Long: `seal ends the journal of a bundle with an entry that sums it up, writes the
checkpoint of all its entries, and signs that with an SSH key: the one of --key, or
one of the ssh-agent. An incident may be sealed while it is open; what comes after
reopens it, and the seal stays good for what it covers. Sealing again changes
nothing. Post the line that it prints where others can see it.

The key that made the tokens of hidden values is destroyed at a seal: without it no one
can try guesses against them. Where recipients.txt in handrail's configuration directory
names age recipients, it is encrypted to them first. --keep-key leaves it. What comes
after a seal has tokens of another key.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	key.Flags(cmd)
	cmd.Flags().BoolVar(&key.none, "no-signature", false, "seal without signing; `handrail bundle sign` can follow")
	cmd.Flags().BoolVar(&keep, "keep-key", false, "leave the redaction key where it is, so that equal values keep equal tokens")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		// Asked before the seal: a key that cannot be had should not leave a bundle sealed and unsigned.
		signer, done, err := Signer(p, key)
		if err != nil {
			return err
		}
		defer done()
		c, err := Keeper(p)
		if err != nil {
			return err
		}
		c.KeepKey = keep
		s, err := session.Seal(cmd.Context(), c, path)
		if err != nil {
			return ResumeError(err)
		}
		out := sealReport{Path: path, ID: s.ID, Seal: s.File, Entries: s.Entries, Root: s.Root, Anchor: s.Line(), Before: s.Before, Key: s.Key, Escrow: s.Escrow}
		if signer != nil {
			if out.Signature, err = evidence.Sign(path, signer, evidence.Options{}); err != nil {
				return process.Hint(fmt.Errorf("the bundle is sealed and not signed: %w", err), "sign it with `handrail bundle sign "+args[0]+"`")
			}
		}
		return printSealed(p, out, *o)
	}
	return cmd
}

func printSealed(p *process.Program, s sealReport, o process.Output) error {
	if o == process.AsJSON {
		return process.PrintJSON(p, s)
	}
	was := "sealed"
	if s.Before {
		was = "was sealed already, and nothing came after"
	}
	fmt.Fprintf(p.Stdout, "%s: %s, %d entries, %s\n", process.Safe(s.Path), was, s.Entries, s.Seal)
	if s.Signature != "" {
		fmt.Fprintf(p.Stdout, "signature: %s\n", s.Signature)
	} else {
		fmt.Fprintln(p.Stdout, "signature: none; anyone who can write the bundle can seal it again until it is signed")
	}
	switch s.Key {
	case "destroyed":
		fmt.Fprintln(p.Stdout, "redaction key: destroyed")
	case "escrowed":
		fmt.Fprintf(p.Stdout, "redaction key: encrypted to its recipients in %s, and destroyed\n", process.Safe(s.Escrow))
	default:
		fmt.Fprintln(p.Stdout, "redaction key: left where it is")
	}
	fmt.Fprintln(p.Stdout, "post this line where the incident is talked about:")
	_, err := fmt.Fprintln(p.Stdout, process.Safe(s.Anchor))
	return err
}

// Keeper is what sealing and anchoring need of the program: no cluster.
func Keeper(p *process.Program) (session.Config, error) {
	state, err := p.StateDir()
	if err != nil {
		return session.Config{}, err
	}
	team, err := settings.TeamRules(p)
	if err != nil {
		return session.Config{}, err
	}
	recipients, err := settings.Recipients(p)
	if err != nil {
		return session.Config{}, err
	}
	return session.Config{Keys: KeysIn(state), Actor: p.Actor(p.User()), Now: p.Now, Version: process.BuildVersion().String(), Redaction: team, Recipients: recipients}, nil
}

func bundleAnchor(p *process.Program) *cobra.Command {
	var line, where string
	cmd := &cobra.Command{
		Use: "anchor BUNDLE", Short: "Print the line that stands for a bundle as it is now, or record where it was posted",
		Long: `anchor prints one line that stands for every entry so far. Posted where the author
of the bundle cannot change it, the chat of the incident say, it proves later that
nothing before it was changed or cut: bundle verify --anchor 'LINE'. With --posted
the journal records where it was posted; a sealed bundle takes no more entries
and is left as it is.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().StringVar(&where, "posted", "", "record that the line was posted at this `place`")
	cmd.Flags().StringVar(&line, "line", "", "the `line` that was posted, when it is not the present one")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		if where != "" {
			return recordAnchor(p, cmd, path, line, where, *o)
		}
		if line != "" {
			return process.Usage("say where it was posted with --posted, or prove it with `handrail bundle verify --anchor`", "--line without --posted")
		}
		r, err := evidence.Verify(path)
		if err != nil {
			return err
		}
		if !r.OK() {
			return &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("bundle %q does not verify", path), Next: "see `handrail bundle verify " + args[0] + "`"}
		}
		at := evidence.Checkpoint{ID: r.ID, Entries: r.Entries, Root: r.Root}
		return o.Print(p, anchorOf(at), func() error { _, err := fmt.Fprintln(p.Stdout, process.Safe(at.Line())); return err })
	}
	return cmd
}

// anchorReport is the public form of the line that stands for a bundle.
type anchorReport struct {
	ID       string `json:"id"`
	Entries  int64  `json:"entries"`
	Root     string `json:"root"`
	Anchor   string `json:"anchor"`
	Recorded *int64 `json:"recorded,omitempty"` // the entry that says where it was posted
}

func anchorOf(c evidence.Checkpoint) anchorReport {
	return anchorReport{ID: c.ID, Entries: c.Entries, Root: c.Root, Anchor: c.Line()}
}

func recordAnchor(p *process.Program, cmd *cobra.Command, path, line, where string, o process.Output) (err error) {
	c, err := Keeper(p)
	if err != nil {
		return err
	}
	b, err := evidence.Open(path, evidence.Options{Now: c.Now, Keys: c.Keys, Version: c.Version, Team: c.Redaction, Types: triage.IsEvent})
	if err != nil {
		return ResumeError(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.Sealed() {
		return process.Usage("keep the line: `handrail bundle verify --anchor` takes it", "bundle %q is sealed, and nothing was recorded", path)
	}
	at := b.Checkpoint()
	if line != "" {
		if at, err = evidence.ParseAnchor(line); err != nil {
			return process.Usage("copy the line whole", "%w", err)
		}
	}
	e, err := b.RecordAnchor(cmd.Context(), c.Actor.ID, at, where)
	if err != nil {
		return err
	}
	out := anchorOf(at)
	out.Recorded = &e.Seq
	return o.Print(p, out, func() error {
		_, err := fmt.Fprintf(p.Stdout, "recorded in entry %d: %s\n", e.Seq, process.Safe(at.Line()))
		return err
	})
}
