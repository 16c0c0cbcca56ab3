package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/steps/catalog"
	"handrail/steps/own"
	"handrail/steps/strict"
)

// UntrustedError says that a runbook is there and was not trusted as it is.
type UntrustedError struct {
	Book    Book
	Changed bool // it was trusted, and changed since
}

func (e *UntrustedError) Error() string {
	what := fmt.Sprintf("the runbook %q of %s, %s,", e.Book.ID, e.Book.Origin.Words(), e.Book.Path)
	if e.Changed {
		return what + " changed since it was trusted"
	}
	return what + " is not trusted"
}

// Unwrap implements errors.
func (e *UntrustedError) Unwrap() error { return runbooks.ErrUntrusted }

// Cure is the next safe move.
func (e *UntrustedError) Cure() string {
	cure := "look at what it does, and trust it: handrail runbook trust " + e.Book.Path
	if slices.Contains(e.Book.Over, OfHandrail) {
		cure += "; or take the one that comes with handrail: embedded:" + e.Book.ID
	}
	return cure
}

// Check says whether a runbook may be begun with: it comes with the program, or a person
// trusted this very text.
func (b Book) Check(p *process.Program) error {
	if b.Origin == OfHandrail {
		return nil
	}
	list, err := trustedTexts(p)
	if err != nil {
		return err
	}
	if holds(list, b.Digest) {
		return nil
	}
	_, known := list[b.Path]
	no := &UntrustedError{Book: b, Changed: known}
	return &process.Problem{Code: process.ExitUsage, Err: no, Next: no.Cure()}
}

func trustedTexts(p *process.Program) (map[string]string, error) {
	list, err := Trusted(p, TrustedRunbooks)
	if err != nil {
		return nil, fmt.Errorf("what runbooks are trusted cannot be told: %w", err)
	}
	return list, nil
}

func holds(list map[string]string, digest string) bool {
	for _, one := range list {
		if one == digest {
			return true
		}
	}
	return false
}

// TrustedText says whether a person of this machine trusts the runbook of a digest,
// wherever its text comes from: a bundle brings its runbooks along.
func TrustedText(p *process.Program, digest string) error {
	list, err := trustedTexts(p)
	if err != nil || holds(list, digest) {
		return err
	}
	return fmt.Errorf("no runbook of the digest %.12s is trusted on this machine: look at what it does with `handrail runbook trust RUNBOOK`", digest)
}

// TrustBook keeps that a person trusts a runbook as it is. Its text is kept beside, so that a
// change can be told in words.
func TrustBook(p *process.Program, b Book) error {
	if strings.ContainsAny(b.Path, "\n\r") {
		return fmt.Errorf("%q: a path with a line break cannot be trusted", b.Path)
	}
	list, err := Trusted(p, TrustedRunbooks)
	if err != nil {
		return err
	}
	text, err := TrustFile(p, "texts", b.Digest+".yaml")
	if err != nil {
		return err
	}
	if err := process.SwapIn(text, string(b.Source)); err != nil {
		return err
	}
	list[b.Path] = b.Digest
	return SaveTrusted(p, TrustedRunbooks, list)
}

// Forget ends the trust in a runbook; known says whether there was any.
func Forget(p *process.Program, path string) (known bool, err error) {
	list, err := Trusted(p, TrustedRunbooks)
	if err != nil {
		return false, err
	}
	digest, known := list[path]
	if !known {
		return false, nil
	}
	for at, other := range list { // a copy of the same text is the same runbook
		if other == digest {
			delete(list, at)
		}
	}
	return true, SaveTrusted(p, TrustedRunbooks, list)
}

// Reach is what a runbook could do, under headings.
type Reach struct {
	Title string
	List  []string
	New   []string // of List, what the text that was trusted before did not
	Whole bool     // no line of it may be left away: each is of the author's choice
}

// ReachOf tells a person what they would trust.
func ReachOf(p *process.Program, b Book) []Reach {
	now := b.Runbook.Reach(catalog.New())
	was, known := wasTrusted(p, b)
	var out []Reach
	add := func(title string, list, old []string, whole bool) {
		if len(list) == 0 {
			return
		}
		r := Reach{Title: title, List: list, Whole: whole}
		for _, line := range list {
			if known && !slices.Contains(old, line) {
				r.New = append(r.New, line)
			}
		}
		out = append(out, r)
	}
	add("It can change, each behind its gate:", now.Changes, was.Changes, true)
	add("Its author asks for less than usual:", now.Eases, was.Eases, false)
	add("It runs programs:", now.Runs, was.Runs, true)
	if b.Runbook.Runs(catalog.New()) {
		out = append(out, Reach{Title: "What keeps them from writing:", List: []string{own.Confinement()}})
	}
	add("It reads:", now.Reads, was.Reads, now.Told)
	return out
}

// wasTrusted is the reach of the text that was trusted at this place before.
func wasTrusted(p *process.Program, b Book) (runbooks.Reach, bool) {
	list, err := Trusted(p, TrustedRunbooks)
	if err != nil || list[b.Path] == "" || list[b.Path] == b.Digest {
		return runbooks.Reach{}, false
	}
	path, err := TrustFile(p, "texts", filepath.Base(list[b.Path])+".yaml")
	if err != nil {
		return runbooks.Reach{}, false
	}
	src, err := ReadUpTo(path, strict.MaxSize)
	if err != nil {
		return runbooks.Reach{}, false
	}
	rb, err := runbooks.Outline(path, src, catalog.New())
	if err != nil || rb.Digest != list[b.Path] {
		return runbooks.Reach{}, false
	}
	return rb.Reach(catalog.New()), true
}

// Mark is what stands before a line: what the text that was trusted before could not do.
func (r Reach) Mark(line string) string {
	if slices.Contains(r.New, line) {
		return "new: "
	}
	return ""
}
