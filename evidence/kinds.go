package evidence

// Entry types. The store writes seal, recover and reopen by itself; callers may write the others.
func knownType(t string) bool {
	switch t {
	case "open", "person", "handover", "plan", "severity", "phase", "skip", "note", "correct", "answer", "manual", "conclude",
		"probe.start", "probe.end", "gate.shown", "gate.answered", "gate.closed", "approve", "act.start", "act.end", "act.again",
		"debt", "settle", "waive", "close":
		return true
	}
	return storeType(t)
}

func storeType(t string) bool {
	switch t {
	case "env", "checkpoint", "reveal", "recover", "seal", "reopen":
		return true
	}
	return false
}
