package triage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What a proof gives. A manual step may cover several items of evidence, and its proof
// is words: each item counts by its own value, and none of them by the others'.

// Given is one item of evidence that a proof names.
type Given struct {
	Item  string `json:"item"`            // E1 to E14
	Value string `json:"value,omitempty"` // as it stands in the proof
	None  bool   `json:"none,omitempty"`  // the proof says that there is none
}

// itemForm is how people write an item, and how they say that there is none.
type itemForm struct{ value, lacks, about *regexp.Regexp }

const (
	// A name with a value that has a digit, as an id has, or with any word.
	numbered = `(?i)\b(?:%s)\b\s*(?:ids?|no\.?|number|is|was|by)?\s*[:=#]?\s*([^\s,;]*\d[^\s,;]*)`
	named    = `(?i)\b(?:%s)\b\s*(?:ids?|is|was|by)?\s*[:=#]?\s*([^\s,;]+)`
	lacks    = `(?i)\b(?:no|without|not)\s+(?:an?\s+)?(?:%s)`
)

// itemForms say for each item in which words it stands in a proof.
var itemForms = map[string]func() itemForm{
	"E1":  form(numbered, `commit|sha|revision`, `commit\w*`, `\b([0-9a-f]{7,40})\b`, `/commit/([0-9a-f]{7,64})`),
	"E2":  form(numbered, `pr|pull request|merge request|mr`, `pr\b|pull request|merge request|mr\b|review`, `(?:/pull/|/merge_requests/|/-/merge_requests/)(\d+)`, `(?:^|\s)([#!]\d+)\b`),
	"E3":  form(numbered, `run|job|build|pipeline|workflow`, `ci\b|run\b|pipeline|job\b`, `(?:/runs/|/pipelines/|/jobs?/|/builds?/)([\w-]+)`),
	"E4":  form(numbered, `plan|digest|artifact`, `plan\b`, `(\S+\.tfplan)\b`, `\b([0-9a-f]{64})\b`),
	"E5":  form(named, `policy|policies|conftest|opa|sentinel|checkov`, `polic\w+`),
	"E6":  form(named, `(?:approv\w+|reviewed|signed|given|agreed)[^.,;:]{0,40}?\sby|approved|approver|approval|reviewer|reviewed`, `approv\w+|reviewer`, `(@[\w-]+)`),
	"E7":  form(named, `runner|agent|host|machine|image`, `runner|agent`, `\b(\w[\w.-]*@[\w.-]+)\b`),
	"E8":  form(numbered, `serial|version`, `state|serial`),
	"E9":  form(numbered, `lock`, `lock\b`, `\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`),
	"E10": form(named, `workspace|unit`, `workspace`),
	"E11": form(numbered, `request|error|call|calls|api`, `error|call\w*|request\w*`),
	"E12": form(numbered, `event|events`, `event\w*`),
	"E13": form(numbered, `namespace|object|resource`, `object|resource`, `\b([a-z0-9.-]+/[a-z0-9.-]+(?:/[a-z0-9.-]+)?)\b`),
	"E14": form(numbered, `copy|copies|saved|kept|snapshot|list|lists|backup|metrics`, `cop(?:y|ies)|snapshot|object\w*`, `((?:/|\./|s3://|gs://|https?://)\S+)`),
}

// form builds the words of an item once a proof is read: a name with its value, the forms that
// its value has by itself, and how it is said to be missing.
func form(how, names, none string, alone ...string) func() itemForm {
	return sync.OnceValue(func() itemForm {
		all := append([]string{fmt.Sprintf(how, names)}, alone...)
		return itemForm{regexp.MustCompile(strings.Join(all, "|")), regexp.MustCompile(fmt.Sprintf(lacks, none)), regexp.MustCompile(`(?i)\b(?:` + names + `|` + none + `)`)}
	})
}

var (
	noneWord = regexp.MustCompile(`(?i)\bnone\b`)
	clause   = regexp.MustCompile(`[,;\n]|\. `)
)

// nones says which of the items the word none is about: those that are named beside it, or all where none of them is.
func nones(covers []string, proof string) (named map[string]bool, rest bool) {
	named = map[string]bool{}
	for _, part := range clause.Split(proof, -1) {
		if !noneWord.MatchString(part) {
			continue
		}
		some := false
		for _, item := range covers {
			if form, known := itemForms[item]; known && form().about.MatchString(part) {
				named[item], some = true, true
			}
		}
		rest = rest || !some
	}
	return named, rest
}

// labelled is an item that is named by its code: E1 1a2b3c4; E2 none.
var labelled = regexp.MustCompile(`\bE(\d{1,2})\b[:=]?\s*([^;,\n]+)`)

// GivenBy says of each item that a step covers what its proof gives. Where it covers one
// alone, all of the proof is its value. Words that name an item and say that there is
// none give it the answer that there is none; what the proof does not name is left away.
func GivenBy(covers []string, proof string) []Given {
	codes := map[string]string{}
	for _, m := range labelled.FindAllStringSubmatch(proof, -1) {
		codes["E"+m[1]] = strings.TrimSpace(m[2])
	}
	free := labelled.ReplaceAllString(proof, "")
	named, rest := nones(covers, free)
	out := []Given{}
	for _, item := range covers {
		var f itemForm
		form, known := itemForms[item]
		if known {
			f = form()
		}
		switch value, ok := codes[item]; {
		case ok:
			out = append(out, givenAs(item, value))
		case !known:
		case f.lacks.MatchString(free):
			out = append(out, Given{Item: item, None: true, Value: strings.TrimSpace(f.lacks.FindString(free))})
		case named[item], rest && len(covers) == 1:
			out = append(out, Given{Item: item, None: true, Value: noneWord.FindString(free)})
		case len(covers) == 1 && len(codes) == 0:
			out = append(out, givenAs(item, strings.TrimSpace(proof)))
		default:
			found := false
			for _, m := range f.value.FindAllStringSubmatch(free, -1) {
				at := slices.IndexFunc(m[1:], func(s string) bool { return s != "" })
				if at < 0 {
					continue
				}
				// What ends a sentence or begins the next words is no part of a value.
				v := strings.TrimRight(m[1+at], ".:!?)")
				if v != "" && (item != "E1" || looksLikeSHA(v)) && (item != "E6" || !notAName.MatchString(v)) {
					out, found = append(out, Given{Item: item, Value: v}), true
					break
				}
			}
			if !found && rest {
				out = append(out, Given{Item: item, None: true, Value: noneWord.FindString(free)})
			}
		}
	}
	return out
}

// notAName are the words that follow "approved" and name no person: approved in review 7.
var notAName = regexp.MustCompile(`(?i)^(?:in|on|at|as|for|the|an?|it|this|that|under|with|from|after|before|again|and|by|is|was|reviews?|pr|pull|merge|mr|ticket|change|[#!]?\d+)$`)

// looksLikeSHA reports whether a word can be a commit: digits and letters, at least
// the seven that git abbreviates to.
func looksLikeSHA(s string) bool {
	return len(s) >= 7 && strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef") && strings.Trim(s, "0123456789abcdef") == ""
}

// noneWords are a value that says there is none.
var noneWords = regexp.MustCompile(`(?i)^(?:none|no|n/?a|nothing|-)$`)

func givenAs(item, value string) Given {
	return Given{Item: item, Value: value, None: noneWords.MatchString(value)}
}
