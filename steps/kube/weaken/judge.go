package weaken

// Judge compares an object before and after a change.
func Judge(k Kind, before, after map[string]any) []Change {
	j := &judge{kind: k}
	j.special(before, after)
	j.object(before, after)
	return j.found
}

// Made judges an object that is made: nothing can be taken away, but it can open
// what others shut.
func Made(k Kind, m map[string]any) []Change {
	j := &judge{kind: k, made: true}
	j.special(map[string]any{}, m)
	j.object(map[string]any{}, m)
	var out []Change
	for _, c := range j.found {
		if c.Sort == Widens {
			out = append(out, c)
		}
	}
	return out
}
