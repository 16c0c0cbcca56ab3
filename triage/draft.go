package triage

// Draft is the event that an intent records when it needs nothing but the
// record: no probe, no preview, no act. The second result is false for the
// intents that do need more (probe, cancel, preview, confirm, interrupt, plan).
func Draft(s State, in Intent) (Body, bool) {
	switch in.Kind {
	case DoAnswer:
		return Answer{Step: in.Step, Value: in.Value, How: in.Text, Proposed: in.Proposed, Script: in.Script}, true
	case DoManual:
		st, _ := s.Step(in.Step)
		return Manual{Step: in.Step, Proof: in.Text, Gives: GivenBy(st.Covers, in.Text)}, true
	case DoSkip:
		return Skip{Step: in.Step, Why: in.Text}, true
	case DoConclude:
		return Conclude{
			Topic: in.Topic, Value: in.Value, Proposed: in.Proposed, Why: in.Text,
			Person: in.Person, Provisional: in.Provisional, Script: in.Script,
		}, true
	case DoDisarm:
		return GateClosed{Step: in.Step, Digest: s.Gates[in.Step].Digest, Why: in.Text}, true
	case DoApprove:
		return Approve{Digest: in.Digest, Person: in.Person, Sig: in.Sig, Key: in.Key, Signed: in.Signed}, true
	case DoSeverity:
		return SeveritySet{Level: in.Severity, Why: in.Text}, true
	case DoPhase:
		return PhaseSet{To: in.Phase, Why: in.Text}, true
	case DoNote:
		return Note{Text: in.Text}, true
	case DoHandOver:
		return Handover{From: s.Operator, For: in.Person, Why: in.Text}, true
	case DoCorrect:
		return Correct{Seq: in.Entry, Text: in.Text}, true
	case DoPerson:
		return in.Who, true
	case DoResolve:
		return in.Finding, true
	case DoDrift:
		b := in.Drift
		if blank(b.Person) {
			b.Person = s.Operator
		}
		return b, true
	case DoHand:
		b := in.Hand
		b.ID = s.NextDebt(ProofDebt)
		return b, true
	case DoSettle:
		return in.Debt, true
	case DoWaive:
		return Waive{Law: in.Law, Subject: in.Step, Findings: in.Findings, Person: in.Person, Why: in.Text}, true
	case DoClose:
		return closing(&s, in), true
	}
	return nil, false
}

// closing is the close that an intent asks for. One that does not say recovered
// names a person and what is left.
func closing(s *State, in Intent) Close {
	out := Close{Outcome: in.Value, Why: in.Text}
	if in.Value == s.Ends() {
		return out
	}
	out.Person, out.Left = in.Person, left(s)
	if blank(out.Person) {
		out.Person = s.Operator
	}
	return out
}
