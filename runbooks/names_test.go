package runbooks

import (
	"errors"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
)

// namesBook asks for words that name what was read.
const namesBook = `apiVersion: handrail/v1
kind: Runbook
id: names
title: Words that name what was read
severity: SEV-3
matrix: 7
domain: runner
mutation:
  - id: plan
    uses: terraform/saved-plan
  - id: looked
    ask: Was each looked up?
    answers: {all: each was, not_all: at least one was not}
    names: {all: [facts.plan.creates]}
    evidence: a line for each
  - id: approval
    manual: Get the plan approved.
    evidence: the approval
    names: [facts.plan.digest]
    pattern: '^review '
`

func TestWordsNameWhatWasRead(t *testing.T) {
	rb, err := Parse("names.yaml", []byte(namesBook), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	digest := strings.Repeat("444f8ba46622", 5) + "abcd"
	read := Vars{Facts: map[string]map[string]steps.Value{"plan": {
		"creates": steps.StringsOf([]string{"aws_s3_bucket.a", `aws_s3_bucket.b["x"]`}), "digest": steps.IdentOf(digest),
	}}}
	sixtyFour := strings.Repeat("444f8ba46622", 5) + "abcd"
	image := Vars{Facts: map[string]map[string]steps.Value{"plan": {"digest": steps.IdentOf("sha256:" + sixtyFour)}}}
	for _, tc := range []struct {
		step, answer, words string
		v                   Vars
		missing             string
	}{
		{"looked", "all", `aws_s3_bucket.a: gone; aws_s3_bucket.b["x"]: exists.`, read, ""},
		{"looked", "all", "2 of 2, in the console", read, ""},
		{"looked", "all", "ALL 2 were looked up", read, ""},
		{"looked", "all", "all fine", read, `aws_s3_bucket.a aws_s3_bucket.b["x"]`},
		{"looked", "all", "12 of 20", read, `aws_s3_bucket.a aws_s3_bucket.b["x"]`},
		{"looked", "all", "aws_s3_bucket.a.", read, `aws_s3_bucket.b["x"]`},
		{"looked", "all", `aws_s3_bucket.ab, aws_s3_bucket.b["x"]`, read, "aws_s3_bucket.a"},
		{"looked", "all", `module.m.aws_s3_bucket.a, aws_s3_bucket.b["x"]`, read, "aws_s3_bucket.a"},
		{"looked", "all", `aws_s3_bucket.a.arn, aws_s3_bucket.b["x"]`, read, "aws_s3_bucket.a"},
		{"looked", "not_all", "the console is down", read, ""},
		{"looked", "all", "all fine", Vars{}, ""}, // what was not read cannot be named
		{"approval", "", "review 7 for " + digest, read, ""},
		{"approval", "", "review 7 for 444F8BA4", read, ""},
		{"approval", "", "review 7 for 444f8ba466229999", read, digest},
		{"approval", "", "review 7 for 444f8ba", read, digest},
		{"approval", "", "review 7 for 12345678", read, digest},
		{"approval", "", "review 7: promoted as sha256:444f8ba4", image, ""},
		{"approval", "", "review 7: promoted as registry.example/app@sha256:" + sixtyFour, image, ""},
		{"approval", "", "review 7: promoted as 444f8ba46622", image, ""},
		{"approval", "", "review 7: promoted as sha256:4", image, "sha256:" + sixtyFour},
		{"approval", "", "review 7: promoted as sha256:", image, "sha256:" + sixtyFour},
	} {
		var e *NamesError
		err := rb.Takes(tc.step, tc.answer, tc.words, tc.v)
		if errors.As(err, &e); err != nil && e == nil {
			t.Errorf("%q: %v", tc.words, err)
			continue
		}
		got := ""
		if e != nil {
			got = strings.Join(e.Missing, " ")
		}
		if got != tc.missing {
			t.Errorf("%s %s %q does not name %q, want %q", tc.step, tc.answer, tc.words, got, tc.missing)
		}
	}
	var bad *ProofError
	if err := rb.Takes("approval", "", "444f8ba4", read); !errors.As(err, &bad) {
		t.Errorf("a proof that does not look as its pattern says is taken: %v", err)
	}
	for _, words := range []string{"ok", " Yes. ", "all", "-"} {
		var only *HollowError
		if err := rb.Takes("looked", "all", words, read); !errors.As(err, &only) {
			t.Errorf("%q is taken for evidence: %v", words, err)
		}
	}
	if got, want := Naming(rb.Names("looked", read)["all"]), `Name aws_s3_bucket.a, aws_s3_bucket.b["x"], or write 2 of 2.`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
