package forge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// mostOwnersText is what GitHub reads of a file of code owners (About code owners, "CODEOWNERS file size"); a longer one
	// counts as none there.
	mostOwnersText = 3 << 20
	// mostOwnersWork bounds the rules that are held against files.
	mostOwnersWork = 1 << 20
)

// ownerRule is one line of a file of code owners.
type ownerRule struct {
	pattern string
	matches *regexp.Regexp
	not     bool     // Gitea: it matches what its pattern does not; GitLab: what it matches has no owners in its section
	owners  []string // as written
	section string   // of GitLab, "" for what stands before the first one
	asks    int      // approvals
}

// demand is what the rules ask for some of the changed files.
type demand struct {
	pattern string
	owners  []string
	asks    int
}

func (d demand) String() string { return d.pattern + ": " + strings.Join(d.owners, " ") }

// parseOwners reads a file of code owners as its forge does:
//
//   - GitHub, About code owners, "CODEOWNERS syntax": patterns of gitignore without !, [ ] and an escaped #; a line that is
//     not valid is passed over.
//   - GitLab, Code Owners file reference: sections with approvals and owners of their own, optional ones, exclusions.
//   - Gitea, Code Owners: regular expressions over the whole path; ! turns one around.
func parseOwners(of vendor, text []byte) ([]ownerRule, error) {
	if len(text) > mostOwnersText {
		return nil, fmt.Errorf("the file of code owners has more than %d MB", mostOwnersText>>20)
	}
	var out []ownerRule
	section, optional, standard, asks := "", false, []string(nil), 1
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "?")) {
		words := ownerWords(line, of == gitea)
		if len(words) == 0 {
			continue
		}
		if of == gitlab {
			if name, maybe, n, of, ok := ownerSection(line); ok {
				section, optional, asks, standard = strings.ToLower(name), maybe, n, of
				continue
			}
		}
		r := ownerRule{pattern: words[0], owners: words[1:], section: section, asks: asks}
		switch of {
		case gitea:
			pattern, turned := strings.CutPrefix(words[0], "!")
			re, err := regexp.Compile("^" + pattern + "$")
			if err != nil || len(r.owners) == 0 {
				continue
			}
			r.matches, r.not = re, turned
		case gitlab:
			if optional {
				continue // its approvals are never required
			}
			pattern, turned := strings.CutPrefix(words[0], "!")
			r.not = turned
			if len(r.owners) == 0 {
				r.owners = standard
			}
			if !strings.HasPrefix(pattern, "/") {
				pattern = "**/" + pattern
			}
			r.matches = ignorePattern(pattern)
		default:
			if strings.HasPrefix(words[0], "!") || strings.ContainsAny(words[0], "[]") || strings.HasPrefix(words[0], `\#`) {
				continue
			}
			r.matches = ignorePattern(words[0])
		}
		if r.matches != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// ownerWords are the words of a line, up to a comment. A backslash takes the next character as it is; of a pattern of gitignore
// it stays, of a regular expression Gitea takes it away.
func ownerWords(line string, regular bool) []string {
	var out []string
	var word strings.Builder
	escaped := false
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, c := range strings.TrimSpace(line) {
		switch {
		case escaped:
			if escaped = false; !regular && c != ' ' {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
		case c == '\\':
			escaped = true
		case c == '#' && (regular || word.Len() == 0):
			end()
			return out
		case c == ' ' || c == '\t':
			end()
		default:
			word.WriteRune(c)
		}
	}
	end()
	return out
}

var sectionForm = regexp.MustCompile(`^(\^?)\[([^\]]+)\](?:\[(\d{1,3})\])?(?:\s+(.*))?$`)

// ownerSection reads the head of a section of GitLab: [Name], ^[Optional], [Name][2] @owner.
func ownerSection(line string) (name string, optional bool, asks int, owners []string, ok bool) {
	m := sectionForm.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return "", false, 0, nil, false
	}
	asks, err := strconv.Atoi(m[3])
	if err != nil || asks < 1 {
		asks = 1
	}
	return strings.TrimSpace(m[2]), m[1] != "", asks, ownerWords(m[4], false), true
}

// ignorePattern is a pattern of gitignore over paths without a leading slash. As both forges say, dir/* does not reach below
// the folders in dir.
func ignorePattern(pattern string) *regexp.Regexp {
	rest, rooted := strings.CutPrefix(pattern, "/")
	rooted = rooted || strings.Contains(strings.TrimSuffix(rest, "/"), "/")
	dir := strings.HasSuffix(rest, "/")
	rest = strings.TrimSuffix(rest, "/")
	if rest == "" {
		if pattern == "/" {
			return nil
		}
		rest = "*"
	}
	var re strings.Builder
	re.WriteString(`^`)
	if !rooted {
		re.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case strings.HasPrefix(rest[i:], "**/"):
			re.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest[i:], "/**") && i+3 == len(rest):
			re.WriteString(`/.*`)
			i += 2
		case c == '*':
			re.WriteString(`[^/]*`)
		case c == '?':
			re.WriteString(`[^/]`)
		case c == '\\' && i+1 < len(rest):
			i++
			re.WriteString(regexp.QuoteMeta(rest[i : i+1]))
		default:
			re.WriteString(regexp.QuoteMeta(rest[i : i+1]))
		}
	}
	switch {
	case dir:
		re.WriteString(`/.*`)
	case !strings.HasSuffix(rest, "/*"):
		re.WriteString(`(?:/.*)?`)
	}
	re.WriteString(`$`)
	out, err := regexp.Compile(re.String())
	if err != nil {
		return nil
	}
	return out
}

// ownerDemands are the approvals that rules ask for files. Of GitHub the last rule that matches a file counts, of GitLab the last
// of each section, of Gitea every one.
func ownerDemands(of vendor, rules []ownerRule, files []string) ([]demand, error) {
	if len(rules)*len(files) > mostOwnersWork {
		return nil, fmt.Errorf("%d rules of code owners and %d changed files are more than are held against each other", len(rules), len(files))
	}
	var out []demand
	asked := map[int]bool{}
	ask := func(i int) {
		if r := rules[i]; !asked[i] && len(r.owners) > 0 {
			asked[i] = true
			out = append(out, demand{r.pattern, r.owners, r.asks})
		}
	}
	for _, file := range files {
		last := map[string]int{}
		excluded := map[string]bool{}
		for i, r := range rules {
			matches := r.matches.MatchString(file)
			switch {
			case of == gitea:
				if matches != r.not {
					ask(i)
				}
			case matches && r.not:
				excluded[r.section] = true
			case matches:
				last[r.section] = i
			}
		}
		for section, i := range last {
			if !excluded[section] {
				ask(i)
			}
		}
	}
	slices.SortFunc(out, func(a, b demand) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}

// errMembership says that an approval may be one of a group.
var errMembership = errors.New("whether one who approved is in a group that owns it was not asked")

// met reports whether enough of those who approved own what is demanded. The error is [errMembership] where a group stands
// among the owners and its members could tip it.
func (d demand) met(of vendor, approvers []string) (bool, error) {
	named, others := 0, 0
	for _, login := range approvers {
		if slices.ContainsFunc(d.owners, func(o string) bool { return strings.EqualFold(o, "@"+login) }) {
			named++
		} else {
			others++
		}
	}
	if named >= d.asks {
		return true, nil
	}
	groups := slices.ContainsFunc(d.owners, func(o string) bool {
		// An address may be that of any account, and GitLab calls a group and a person by the same form.
		name, isName := strings.CutPrefix(o, "@")
		return !isName || strings.Contains(name, "/") || of == gitlab && !slices.ContainsFunc(approvers, func(login string) bool { return strings.EqualFold(name, login) })
	})
	if groups && named+others >= d.asks {
		return false, errMembership
	}
	return false, nil
}
