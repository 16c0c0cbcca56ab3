package triage

import "testing"

// TestUsersAreThoseOfTheOperator: after a hand-over and back, each act is that of the
// user under whom its own operator worked, and what cannot be told is not guessed.
func TestUsersAreThoseOfTheOperator(t *testing.T) {
	t.Parallel()
	kube := func(subject string) Person { return Person{ID: subject, Proof: "kube", Subject: subject} }
	one := Users{}.With(Person{ID: "ada", Proof: "os", Subject: "ada"}, "ada").With(kube("admin@prod"), "ada")
	two := one.With(Person{ID: "bob", Proof: "os", Subject: "robert"}, "bob").With(kube("viewer@prod"), "bob")
	for _, c := range []struct {
		u              Users
		uses, operator string
		want           string
	}{
		{Users{}, "kube/delete", "ada", ""}, {one, "kube/delete", "ada", "admin@prod"}, {one, "terraform/unlock", "ada", "ada"},
		{one, "kube/delete", "bob", "admin@prod"}, // the same user, recorded once
		{two, "kube/delete", "ada", "admin@prod"}, {two, "kube/delete", "bob", "viewer@prod"}, {two, "terraform/unlock", "bob", "robert"},
		{two, "kube/delete", "cyd", ""}, {two, "terraform/unlock", "cyd", ""},
	} {
		if got := c.u.Of(c.uses, c.operator); got != c.want {
			t.Errorf("Of(%s, %s) = %q, want %q", c.uses, c.operator, got, c.want)
		}
	}
}
