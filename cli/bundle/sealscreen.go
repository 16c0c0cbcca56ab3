package bundle

import (
	"context"
	"errors"
	"fmt"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/evidence/visible"
	"handrail/session"
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/tui"
)

// SealOptions says for the screens what a seal would do on this machine: who could
// sign, and who can read the redaction key afterwards.
func SealOptions(_ context.Context, p *process.Program) (tui.SealOptions, error) {
	recipients, err := settings.Recipients(p)
	if err != nil {
		return tui.SealOptions{}, err
	}
	out := tui.SealOptions{Recipients: recipients, NameOne: settings.RecipientsHelp(p)}
	const how = "make a key with `ssh-keygen -t ed25519` and load it with ssh-add, or sign later: handrail bundle sign ID --key FILE"
	keys, err := agentKeys(p)
	switch {
	case err != nil:
		out.NoSigner = err.Error() + ": " + how
	case len(keys) == 0:
		out.NoSigner = "the ssh-agent has no key to sign with: " + how
	}
	for _, k := range keys {
		out.Signers = append(out.Signers, tui.Signer{ID: k.mark, Name: k.comment})
	}
	return out, nil
}

// SealFor seals a bundle that the screens let go of, signs it, and verifies every
// byte of it again. After the seal itself nothing is an error any more: the seal
// stands, and what went wrong is said beside it.
func SealFor(ctx context.Context, p *process.Program, order tui.SealOrder, tell func(string)) (tui.SealResult, error) {
	c, err := Keeper(p)
	if err != nil {
		return tui.SealResult{}, err
	}
	signer, done, err := Signer(p, KeyChoice{signer: order.Signer, none: order.Signer == ""})
	if err != nil { // before the seal: it should not stand unsigned for a key that cannot be had
		return tui.SealResult{}, err
	}
	defer done()
	tell("writing the seal")
	s, err := session.Seal(ctx, c, order.Bundle)
	if err != nil {
		return tui.SealResult{}, err
	}
	out := tui.SealResult{Seal: s.File, Entries: s.Entries, Anchor: s.Line(), Key: s.Key, Escrow: s.Escrow}
	if signer != nil {
		tell("signing it; a hardware key waits to be touched")
		if out.Signature, err = evidence.Sign(order.Bundle, signer, evidence.Options{}); err != nil {
			out.Wrong = "it is sealed and not signed: " + err.Error() + "; sign it with handrail bundle sign " + s.ID
		}
	}
	tell("verifying every byte again")
	v, err := VerdictOf(p, order.Bundle)
	if err != nil {
		out.Wrong = joined(out.Wrong, "it could not be verified: "+err.Error()+"; see handrail bundle verify "+s.ID)
		return out, nil
	}
	out.Verified = v.OK
	for _, l := range v.Lines {
		line := fmt.Sprintf("%s: %s", l.Property, l.Detail)
		switch l.Verdict {
		case evidence.Failed:
			out.Failed = append(out.Failed, line)
		case evidence.Unproven:
			out.Unproven = append(out.Unproven, line)
		}
	}
	return out, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// VerdictOf verifies a bundle by what this machine knows of signers.
func VerdictOf(p *process.Program, path string) (verdict, error) {
	policy, err := policy(p, brought{}, path)
	if err != nil {
		return verdict{}, err
	}
	return verify(path, policy, settings.Approvers(p, policy.Signers))
}

// ReportNow is the report of a bundle that export would write.
func ReportNow(_ context.Context, p *process.Program, path string) (report.Document, error) {
	doc, _, r, err := document(p, path)
	if err != nil {
		return report.Document{}, err
	}
	return doc, r.Close()
}

// document is a bundle as a report, with the verdict on it. The reader is open.
func document(p *process.Program, path string) (_ report.Document, _ verdict, _ *evidence.Reader, err error) {
	st, err := journal.LoadState(path)
	if err != nil {
		return report.Document{}, verdict{}, nil, process.Hint(err, "see what is wrong with `handrail bundle verify "+path+"`")
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return report.Document{}, verdict{}, nil, err
	}
	list, err := report.Artifacts(r)
	var v verdict
	if err == nil {
		v, err = VerdictOf(p, path)
	}
	if err != nil {
		return report.Document{}, verdict{}, nil, errors.Join(err, r.Close())
	}
	return report.New(st, report.In(contextOf(path)), report.With(list), report.Verified(v.forReport()), handlingFor(path)), v, r, nil
}

// forReport is the verdict as a report shows it.
func (v verdict) forReport() report.Verification {
	out := report.Verification{OK: v.OK, Entries: v.Entries, Head: visible.Line(v.Head), Root: visible.Line(v.Root)}
	for _, l := range v.Lines {
		if l.Verdict == evidence.Unproven {
			out.Unproven++
		}
		out.Checks = append(out.Checks, report.Check{Property: visible.Line(l.Property), Verdict: visible.Line(string(l.Verdict)), Detail: visible.Line(l.Detail)})
	}
	return out
}
