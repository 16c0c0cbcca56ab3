package forge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

func pullFacts() []steps.Field {
	return []steps.Field{
		{Name: "state", Type: steps.Enum, Values: []string{"open", "closed", "merged", "absent"}, Doc: "absent only where it was looked for by its branch and the list of the repository was read to its end"},
		{Name: "number", Type: steps.Int, Doc: "its number"},
		{Name: "url", Type: steps.String, Doc: "its page"},
		{Name: "title", Type: steps.String, Doc: "its title"},
		{Name: "draft", Type: steps.Bool, Doc: "whether it is a draft"},
		{Name: "author", Type: steps.String, Doc: "login of who opened it"},
		{Name: "writers", Type: steps.Strings, Doc: "logins that its commits name as author or committer, who need not be the one that opened it"},
		{Name: "head", Type: steps.Ident, Doc: "commit at its head"},
		{Name: "head_branch", Type: steps.String, Doc: "branch that it comes from"},
		{Name: "base_branch", Type: steps.String, Doc: "branch that it goes to"},
		{Name: "base_now", Type: steps.Ident, Doc: "commit where that branch is now"},
		{Name: "merge_base", Type: steps.Ident, Doc: "commit that both have in common"},
		{Name: "behind", Type: steps.Int, Doc: "commits of the base branch that the head lacks"},
		{Name: "base_moved", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether there are any"},
		{Name: "merge_commit", Type: steps.Ident, Doc: "commit that merged it"},
		{Name: "merged_at", Type: steps.Time, Doc: "when it was merged"},
		{Name: "merged_by", Type: steps.String, Doc: "login of who merged it"},
		{Name: "approval", Type: steps.Enum, Values: []string{"head", "older", "own", "absent"}, Doc: "the best approval that stands: of another person for the head, of another person for an older commit, of the author alone, or none"},
		{Name: "approvers", Type: steps.Strings, Doc: "logins of others whose approval of the head stands"},
		{Name: "approver", Type: steps.String, Doc: "login of the newest of them, empty where there is none"},
		{Name: "approved_at", Type: steps.Time, Doc: "when the newest of them approved"},
		{Name: "approved_commit", Type: steps.Ident, Doc: "commit that the newest approval of another person was for"},
		{Name: "approved_digests", Type: steps.Strings, Doc: "SHA-256 digests that the text of an approval of the head names, of approvers who wrote none of its commits"},
		{Name: "older_approvers", Type: steps.Strings, Doc: "logins of others whose approval was for another commit than the head"},
		{Name: "outsiders", Type: steps.Strings, Doc: "logins whose approval counts for nothing, since they may not write to the repository"},
		{Name: "dismissed", Type: steps.Strings, Doc: "logins whose last word was dismissed"},
		{Name: "refusers", Type: steps.Strings, Doc: "logins who ask for changes"},
		{Name: "own_approval", Type: steps.Bool, Doc: "whether the author approved it"},
		{Name: "reviews", Type: steps.Strings, Doc: "each review: time, login, what it says, its commit"},
		{Name: "required", Type: steps.Int, Doc: "approvals that the base branch asks for"},
		{Name: "enough", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether as many others approved the head as the base branch asks for, and none asks for changes"},
		{Name: "checks", Type: steps.Table, Doc: "each check of the head: success, failure, pending or neutral"},
		{Name: "checks_state", Type: steps.Enum, Values: []string{success, failure, pending, "none"}, Doc: "all of them together"},
		{Name: "failed_checks", Type: steps.Strings, Doc: "those that failed"},
		{Name: "check_urls", Type: steps.Table, Doc: "their pages"},
		{Name: "checked_at", Type: steps.Time, Doc: "when the newest of them was told"},
		{Name: "required_checks", Type: steps.Strings, Doc: "checks that the base branch asks for"},
		{Name: "missing_checks", Type: steps.Strings, Doc: "those of them that the head lacks or that are not green"},
		{Name: "files", Type: steps.Strings, Doc: "files that it changes, of one that moves both names"},
		{Name: "owners_file", Type: steps.String, Doc: "path of the file of code owners on the branch that binds, empty where there is none"},
		{Name: "owners", Type: steps.Strings, Doc: "each rule of it that matches a changed file, with its owners"},
		{Name: "owner_approval", Type: steps.Enum, Values: []string{"yes", "no", "none"}, Doc: "whether an owner of each such rule approved the head; none where no changed file has an owner"},
		{Name: "owners_missing", Type: steps.Strings, Doc: "the rules whose owners did not"},
	}
}

// readPull is forge/pull.
func readPull(ctx context.Context, a asked) (steps.Observation, error) {
	repo, number, branch := a.in.Text("repo"), a.in.Int("number"), a.in.Text("branch")
	if (number > 0) == (branch != "") {
		return steps.Observation{}, errors.New("name the pull request by number or by branch, one of the two")
	}
	r := a.reader()
	if branch != "" {
		var err error
		if number, err = r.pullOf(ctx, repo, branch); err != nil {
			return steps.Observation{}, fmt.Errorf("looking for a pull request from %s in %s: %w", branch, repo, err)
		}
		if number == 0 {
			a.f.Set("state", steps.EnumOf("absent"))
			return steps.Observation{Summary: fmt.Sprintf("No pull request from %s is in %s.", branch, repo), Command: a.command(a.pulls(repo)),
				Facts: a.f.Rest("there is no pull request from " + branch)}, nil
		}
	}
	p, err := r.pull(ctx, repo, number)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("pull request %d of %s: %w", number, repo, err)
	}
	obs := steps.Observation{Command: a.command(a.pulls(repo) + "/" + count(number))}
	a.keepAll(p.raw, &obs)
	if p.owners.at != "" {
		a.artifact("codeowners", steps.MediaText, p.owners.text, &obs)
	}
	for _, part := range slices.Sorted(maps.Keys(p.not)) {
		obs.Gaps = append(obs.Gaps, part+": "+p.not[part])
	}
	a.tellPull(p, &obs)
	obs.Facts = a.f.Rest("the forge does not say")
	return obs, nil
}

func (c *client) pulls(repo string) string {
	if c.vendor == gitlab {
		return path("projects", repo, "merge_requests")
	}
	return "/repos/" + repo + "/pulls"
}

func (a asked) tellPull(p pull, obs *steps.Observation) {
	const unsaid = "the forge does not say"
	a.enum("state", p.state, "the forge says something else than open, closed or merged")
	a.f.Set("number", steps.IntOf(p.number))
	a.text("url", p.url, unsaid)
	a.text("title", p.title, unsaid)
	a.f.Set("draft", steps.BoolOf(p.draft))
	a.text("author", p.author, "the forge names no author")
	a.ident("head", p.head, errNoHead.Error())
	a.text("head_branch", p.branch, unsaid)
	a.text("base_branch", p.base, unsaid)
	if p.state == "merged" {
		a.ident("merge_commit", p.merge, unsaid)
		a.at("merged_at", p.mergedAt, unsaid)
		a.text("merged_by", p.mergedBy, unsaid)
	} else {
		a.f.Unknown("it is not merged", "merge_commit", "merged_at", "merged_by")
	}
	a.ident("merge_base", p.mergeBase, unsaid)
	if why := p.not[partBase]; why != "" || p.behind < 0 {
		a.f.Unknown(orElse(why, unsaid), "base_now", "behind", "base_moved")
	} else {
		a.ident("base_now", p.baseNow, unsaid)
		a.f.Set("behind", steps.IntOf(p.behind))
		a.f.Set("base_moved", steps.EnumOf(yesNo(p.behind > 0)))
		if p.behind > 0 && p.state == "open" {
			obs.Say(steps.Warning, "%s moved by %d commits since the head was based on it: what was checked is not what a merge makes.", p.base, p.behind)
		}
	}
	if why := p.not[partWriters]; why != "" {
		a.f.Unknown(why, "writers")
	} else {
		a.f.Set("writers", steps.StringsOf(unique(p.writers)))
	}
	s := a.tellReviews(p, obs)
	a.tellChecks(p, obs)
	if why := p.not[partFiles]; why != "" {
		a.f.Unknown(why, "files")
	} else {
		a.f.Set("files", steps.StringsOf(unique(p.files)))
	}
	a.tellOwners(p, obs)
	obs.Summary = fmt.Sprintf("Pull request %d of %s is %s, %s; %s; checks: %s.", p.number, a.in.Text("repo"), orElse(p.state, "in a state that is not known"),
		headWords(p.head), s, a.f.Got("checks_state").Text())
}

func headWords(head string) string {
	if head == "" {
		return "its head is unknown"
	}
	return "head " + head[:12]
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// tellReviews says who approved what, and in words for the summary.
func (a asked) tellReviews(p pull, obs *steps.Observation) string {
	all := []string{"approval", "approvers", "approver", "approved_at", "approved_commit", "approved_digests", "older_approvers", "outsiders", "dismissed", "refusers", "own_approval", "reviews", "enough"}
	if why := p.not[partRequired]; why != "" {
		a.f.Unknown(why, "required")
	} else {
		a.f.Set("required", steps.IntOf(p.required))
	}
	why := p.not[partReviews]
	if why == "" && (p.head == "" || p.author == "") {
		why = "the forge names no head or no author to hold them against"
	}
	if why != "" {
		a.f.Unknown(why, all...)
		return "its reviews are unknown"
	}
	j := judge(p)
	a.f.Set("reviews", steps.StringsOf(j.lines))
	a.f.Set("dismissed", steps.StringsOf(j.dismissed))
	a.f.Set("outsiders", steps.StringsOf(j.outside))
	if len(j.outside) > 0 {
		obs.Say(steps.Warning, "%s may not write to the repository: that approval counts for nothing.", strings.Join(j.outside, ", "))
	}
	a.f.Set("refusers", steps.StringsOf(j.refusers))
	a.f.Set("own_approval", steps.BoolOf(j.own))
	if j.own {
		obs.Say(steps.Warning, "The author %s approved the pull request: that is no second person.", p.author)
	}
	if j.unclear {
		why := orElse(p.not[partCommits], "the forge does not say for which commit an approval was")
		a.f.Unknown(why, "approval", "approvers", "approver", "approved_at", "approved_commit", "approved_digests", "older_approvers", "enough")
		obs.Say(steps.Warning, "For which commit the approvals were is unknown: %s.", why)
		return "approved, for which commit is unknown"
	}
	a.f.Set("approvers", steps.StringsOf(j.head))
	a.f.Set("older_approvers", steps.StringsOf(j.older))
	a.f.Set("approver", steps.StringOf(j.approver))
	a.at("approved_at", j.at, "no approval of another person stands for the head")
	a.ident("approved_commit", j.commit, "no approval of another person stands")
	a.f.Set("approval", steps.EnumOf(j.best))
	if why := orElse(p.not[partTexts], p.not[partWriters]); why != "" {
		a.f.Unknown(why, "approved_digests")
	} else {
		a.f.Set("approved_digests", steps.StringsOf(j.digests))
	}
	if p.not[partRequired] != "" {
		a.f.Unknown(p.not[partRequired], "enough")
	} else {
		a.f.Set("enough", steps.EnumOf(yesNo(int64(len(j.head)) >= p.required && len(j.refusers) == 0)))
	}
	switch j.best {
	case "head":
		return "approved at its head by " + strings.Join(j.head, ", ")
	case "older":
		obs.Say(steps.Warning, "%s approved an older commit than the head: what would be merged has no approval.", strings.Join(j.older, ", "))
		return "approved at an older commit alone"
	case "own":
		return "approved by its author alone"
	}
	return "not approved"
}

// tellOwners holds the approvals of the head against the file of code owners.
func (a asked) tellOwners(p pull, obs *steps.Observation) {
	if why := p.not[partOwners]; why != "" {
		a.f.Unknown(why, "owners_file", "owners", "owner_approval", "owners_missing")
		return
	}
	a.f.Set("owners_file", steps.StringOf(p.owners.at))
	if p.owners.at != "" && slices.Contains(p.files, p.owners.at) {
		obs.Say(steps.Warning, "The pull request changes %s, which says who must approve.", p.owners.at)
	}
	var asks []demand
	rules, err := parseOwners(a.vendor, p.owners.text)
	if why := p.not[partFiles]; err == nil && p.owners.at != "" && why != "" {
		err = errors.New(why)
	} else if err == nil {
		asks, err = ownerDemands(a.vendor, rules, unique(p.files))
	}
	if err != nil {
		a.f.Unknown(err.Error(), "owners", "owner_approval", "owners_missing")
		return
	}
	lines := []string{}
	for _, d := range asks {
		lines = append(lines, words(d.String()))
	}
	a.f.Set("owners", steps.StringsOf(unique(lines)))
	j := judge(p)
	switch why := p.not[partReviews]; {
	case len(asks) == 0:
		a.f.Set("owner_approval", steps.EnumOf("none"))
		a.f.Set("owners_missing", steps.StringsOf([]string{}))
		return
	case why != "" || p.head == "" || p.author == "":
		a.f.Unknown(orElse(why, "the forge names no head or no author to hold them against"), "owner_approval", "owners_missing")
		return
	case j.unclear:
		a.f.Unknown("for which commit an approval was is unknown", "owner_approval", "owners_missing")
		return
	}
	missing, open := []string{}, false
	for _, d := range asks {
		ok, err := d.met(a.vendor, j.head)
		if open = open || err != nil; !ok && err == nil {
			missing = append(missing, words(d.String()))
		}
	}
	switch {
	case len(missing) > 0:
		a.f.Set("owner_approval", steps.EnumOf("no"))
		obs.Say(steps.Warning, "No owner approved the head for %s.", strings.Join(missing, "; "))
	case open:
		a.f.Unknown(errMembership.Error(), "owner_approval")
	default:
		a.f.Set("owner_approval", steps.EnumOf("yes"))
	}
	if open {
		a.f.Unknown(errMembership.Error(), "owners_missing")
	} else {
		a.f.Set("owners_missing", steps.StringsOf(missing))
	}
}

// judgement is what reviews come to.
type judgement struct {
	best                                      string
	head, older, outside, dismissed, refusers []string
	own, unclear                              bool
	approver, commit                          string
	at                                        time.Time
	lines, digests                            []string
}

// judge holds the last word of each person against the head. An approval whose commit is unknown makes it unclear what is
// approved; the author's own approves nothing.
func judge(p pull) judgement {
	j := judgement{best: "absent", head: []string{}, older: []string{}, outside: []string{}, dismissed: []string{}, refusers: []string{}, lines: []string{}, digests: []string{}}
	for _, r := range p.reviews {
		when := "at a time that is unknown"
		if !r.at.IsZero() {
			when = r.at.UTC().Format(time.RFC3339)
		}
		j.lines = append(j.lines, fmt.Sprintf("%s %s %s %s", when, r.login, r.says, orElse(r.commit, "commit unknown")))
	}
	for _, r := range latest(p.reviews) {
		switch {
		case r.says == dismissed:
			j.dismissed = append(j.dismissed, r.login)
		case r.says == changes:
			j.refusers = append(j.refusers, r.login)
		case r.login == p.author:
			j.own = true
		case r.lacks:
			j.outside = append(j.outside, r.login)
		case r.commit == "":
			j.unclear = true
		case r.commit == p.head && !r.stale:
			j.head = append(j.head, r.login)
			j.approver, j.commit, j.at = r.login, r.commit, r.at
			if !slices.Contains(p.writers, r.login) {
				j.digests = unique(append(j.digests, r.digests...))
			}
		default:
			j.older = append(j.older, r.login)
			if len(j.head) == 0 {
				j.commit = r.commit
			}
		}
	}
	switch {
	case len(j.head) > 0:
		j.best = "head"
	case len(j.older) > 0:
		j.best = "older"
	case j.own:
		j.best = "own"
	}
	return j
}

func (a asked) tellChecks(p pull, obs *steps.Observation) {
	if why := p.not[partRequired]; why != "" {
		a.f.Unknown(why, "required_checks", "missing_checks")
	} else {
		a.f.Set("required_checks", steps.StringsOf(p.wanted))
	}
	if why := p.not[partChecks]; why != "" {
		a.f.Unknown(why, "checks", "checks_state", "failed_checks", "check_urls", "checked_at", "missing_checks")
		return
	}
	states, urls, failed := map[string]string{}, map[string]string{}, []string{}
	var newest time.Time
	all := success
	for _, c := range p.checks {
		if worse(c.says, states[c.name]) {
			states[c.name], urls[c.name] = c.says, c.url
		}
		if c.at.After(newest) {
			newest = c.at
		}
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		switch states[name] {
		case failure:
			failed, all = append(failed, name), failure
		case pending:
			if all == success {
				all = pending
			}
		}
	}
	if len(states) == 0 {
		all = "none"
	}
	a.f.Set("checks", steps.TableOf(states))
	a.f.Set("check_urls", steps.TableOf(urls))
	a.f.Set("failed_checks", steps.StringsOf(failed))
	a.f.Set("checks_state", steps.EnumOf(all))
	a.at("checked_at", newest, "the head has no check")
	if p.not[partRequired] == "" {
		missing := []string{}
		for _, name := range p.wanted {
			if says := states[name]; says != success && says != neutral {
				missing = append(missing, name)
			}
		}
		a.f.Set("missing_checks", steps.StringsOf(missing))
	}
	if len(failed) > 0 {
		obs.Say(steps.Info, "Failed at the head: %s.", strings.Join(failed, ", "))
	}
}

// worse reports whether of two checks of one name the first is the one to tell.
func worse(a, b string) bool {
	order := []string{"", neutral, success, pending, failure}
	return slices.Index(order, a) > slices.Index(order, b)
}
