package steps

import (
	"slices"
	"testing"
)

func TestFactsTellWhatIsNotDeclared(t *testing.T) {
	t.Parallel()
	k := Kind{Facts: []Field{{Name: "held", Type: Bool}, {Name: "age", Type: Duration}}}
	f := NewFacts(k.Facts)
	f.Set("held", BoolOf(true))
	f.Set("hold", BoolOf(true))
	f.Unknown("denied", "age", "ages")
	got := f.Rest("not read")
	if names := k.Undeclared(got); !slices.Equal(names, []string{"ages", "hold"}) {
		t.Errorf("Undeclared() = %q", names)
	}
	if got["age"].Type() != Duration || got["age"].Why() != "denied" || !got["held"].Bool() {
		t.Errorf("facts = %+v", got)
	}
}
