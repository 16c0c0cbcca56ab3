package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/sig"
	"handrail/session/approval"
	"handrail/session/replay"
	"handrail/triage"
)

// maxAsked bounds what is read of a request: it is outside text.
const maxAsked = 4 << 20

func approveCommand(p *process.Program) *cobra.Command {
	var file, gate string
	var key bundle.KeyChoice
	cmd := &cobra.Command{
		Use: "approve [BUNDLE]", Short: "Approve, as the second person, what a gate is about to do",
		Long: `approve shows what a gate would do, to what, on which evidence, and asks you to
type the phrase of that gate. Then it signs exactly what it showed, with a key of the
ssh-agent or of --key, and prints one line to send back. It changes nothing, asks no
cluster, and says yes to nothing else.

The operator sends you a request, to be pasted here or named with -f; or you name the
BUNDLE, where you can read it, and its gate is read as it stands now. Everything that
is shown comes from what is signed: the digest is computed again from it, and where it
differs nothing is signed. An approval lapses after ten minutes.

Your key must be among those whom the policy of the operator names, and none of theirs.`,
		Args: process.Between(0, "a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "read the request from this `file` instead of standard input")
	cmd.Flags().StringVar(&gate, "gate", "", "of several gates that wait in a BUNDLE, the one of this `step`")
	key.Flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && file != "" {
			return process.Usage("give one of them", "a BUNDLE beside -f")
		}
		if gate != "" && len(args) == 0 {
			return process.Usage("leave it out; a request is of one gate", "--gate without a BUNDLE")
		}
		in := bufio.NewReader(p.Stdin)
		ask := func() (approval.Request, error) { return requested(p, in, file) }
		if len(args) == 1 {
			path, err := bundle.Find(p, args[0])
			if err != nil {
				return err
			}
			tape, err := replay.Follow(path, bundle.Reading(p))
			if err != nil {
				return process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
			}
			defer tape.Close()
			ask = func() (approval.Request, error) { tape.Grow(); return waiting(tape, gate) }
		}
		again := ask
		if len(args) == 0 {
			again = nil
		}
		return approve(p, in, ask, again, key)
	}
	return cmd
}

// waiting is the gate of a bundle that waits for a second person.
func waiting(tape *replay.Tape, gate string) (approval.Request, error) {
	all := tape.Requests()
	if gate != "" {
		all = slices.DeleteFunc(all, func(r approval.Request) bool { return r.Shown.Step != gate })
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return approval.Request{}, notNow("no gate of this incident waits for a second person now", "ask the operator to open its preview; see the incident with `handrail follow`")
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Shown.Step)
	}
	return approval.Request{}, process.Usage("name one with --gate", "several gates wait: %s", strings.Join(names, ", "))
}

// notNow is the end of an approval that is not given: nothing was signed.
func notNow(why, next string) error {
	return &process.Problem{Code: process.ExitRefused, Err: errors.New("nothing was signed: " + why), Next: next}
}

// requested reads a request from a file or from what is pasted.
func requested(p *process.Program, in *bufio.Reader, file string) (approval.Request, error) {
	var text string
	if file != "" && file != "-" {
		src, err := settings.ReadUpTo(file, maxAsked)
		if err != nil {
			return approval.Request{}, process.Usage("name the file that holds the request", "reading the request: %w", err)
		}
		text = string(src)
	} else {
		if process.IsTerminal(p.Stdin) {
			fmt.Fprintln(p.Stderr, "Paste the request, whole:")
		}
		var all strings.Builder
		for all.Len() < maxAsked {
			line, err := in.ReadString('\n')
			all.WriteString(line)
			if approval.RequestEnds(line) || errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return approval.Request{}, fmt.Errorf("reading the request: %w", err)
			}
		}
		text = all.String()
	}
	r, err := approval.ParseRequest(text)
	if err != nil {
		return r, &process.Problem{Code: process.ExitUsage, Err: err, Next: "ask the operator to copy the request again; all lines of it are needed, from BEGIN to END"}
	}
	return r, nil
}

// approve shows a request, takes the phrase and prints the approval. again looks
// whether it is still asked for; nil where that cannot be seen.
func approve(p *process.Program, in *bufio.Reader, ask, again func() (approval.Request, error), choice bundle.KeyChoice) error {
	r, err := ask()
	if err != nil {
		return err
	}
	if err := r.Sound(); err != nil {
		return notNow(err.Error(), "what is shown is not what is asked for: do not go on, and tell the operator by another way")
	}
	if err := inTime(p, r); err != nil {
		return err
	}
	signer, done, err := bundle.Signer(p, choice)
	if err != nil {
		return err
	}
	defer done()
	mark := ssh.FingerprintSHA256(signer.PublicKey())
	if slices.Contains(r.Shown.Second.Own, mark) {
		return notNow("the key "+mark+" is at the operator's hand, and a second person signs with another", "sign with a key of your own: --key FILE or --signer SHA256:…")
	}
	showRequest(p.Stderr, r, p.Now())
	fmt.Fprintf(p.Stderr, "\nYou would sign exactly this with %s. To approve it, type: %s\nphrase> ", mark, process.Safe(r.Shown.Phrase))
	typed, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the phrase: %w", err)
	}
	if !process.IsTerminal(p.Stdin) {
		fmt.Fprintln(p.Stderr)
	}
	if strings.TrimRight(typed, " \t\r\n") != r.Shown.Phrase || r.Shown.Phrase == "" {
		return notNow("what was typed is not the phrase", "type it exactly, or close this if you do not agree; tell the operator why")
	}
	if again != nil {
		now, err := again()
		if err == nil && now.Text() != r.Text() {
			err = notNow("the gate shows something else by now", "look at it again")
		}
		if err != nil {
			return err
		}
	}
	if err := inTime(p, r); err != nil {
		return err
	}
	return sign(p, r, signer)
}

func sign(p *process.Program, r approval.Request, signer ssh.Signer) error {
	at := p.Now().UTC().Truncate(time.Second)
	text, err := r.Signed(at)
	if err != nil {
		return err
	}
	armour, err := sig.SignApproval(signer, text)
	if err != nil {
		return err
	}
	a := approval.Approval{Digest: r.Shown.Digest, Signed: at, Sig: armour}
	fmt.Fprintf(p.Stderr, "Approved until %s. Send this one line back to the operator:\n", triage.Approve{Signed: at}.Lapses().Format("15:04:05Z"))
	_, err = fmt.Fprintln(p.Stdout, a.Line())
	return err
}

func inTime(p *process.Program, r approval.Request) error {
	if until := r.Shown.Until; p.Now().After(until) {
		return notNow("the gate expired at "+until.UTC().Format(time.RFC3339), "ask the operator to preview it again, and to send the new request")
	}
	return nil
}

// approvalIn reads an approval that came back and that the operator put into a file.
func approvalIn(file string) (string, error) {
	src, err := settings.ReadUpTo(file, maxAsked)
	return string(src), err
}
