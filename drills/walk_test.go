package drills_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/drills"
	"handrail/drills/lab/gitops"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/walk"
	"handrail/steps/catalog"
)

// walks say of every drill and variant what its walk must come to. A drill that
// is missing here fails the test, and so does a runbook without a drill.
var walks = map[string]struct {
	acts   int      // acts that ended done
	writes int      // by the operator, in the audit log; -1 where a program makes them, at least one
	asked  int      // writes, rehearsals and reviews of handrail itself, at least so many
	says   []string // what the refusal must say, for the person who reads it at night
}{
	"colliding-writers":               {acts: 5, writes: -1},
	"colliding-writers (unlisted)":    {acts: 1, says: []string{"not written down"}},
	"five-creates":                    {acts: 4, writes: -1},
	"five-creates (no-restore)":       {acts: 1, says: []string{"newest backup"}},
	"five-creates (wrong-one)":        {acts: 1, says: []string{"intended objects"}},
	"ghosts":                          {acts: 3, writes: -1},
	"ghosts (back)":                   {acts: 1, says: []string{"kubernetes_config_map.limits"}},
	"hand-edit":                       {acts: 1, writes: 1, asked: 2},
	"hand-edit (on-purpose)":          {says: []string{"does not hold the correction yet"}},
	"hand-edit (flux)":                {acts: 1, writes: 1, asked: 2},
	"forgotten-pause":                 {acts: 2, writes: 2, asked: 4},
	"forgotten-pause (pruning)":       {says: []string{"Resuming deletes", "/terms"}},
	"refused-object":                  {acts: 1, writes: 1, asked: 2},
	"missing-kind":                    {acts: 1, writes: 1, asked: 2},
	"missing-kind (flux)":             {acts: 1, writes: 1, asked: 2},
	"missing-kind (too-early)":        {says: []string{"serves no kind", "tariff"}},
	"held-prune":                      {},
	"held-prune (impatient)":          {says: []string{"configmap/ledger", "archive.example/ledger", "frees nothing"}},
	"half-hook":                       {acts: 1, writes: 1, asked: 2},
	"half-hook (again)":               {says: []string{"Git still has the hook as it ran", "/migrate"}},
	"killed-controller":               {acts: 2, writes: 2, asked: 4},
	"killed-controller (unpaused)":    {says: []string{"writes over what was changed meanwhile", "/limits", "kubectl-edit"}},
	"split-hotfix":                    {acts: 7, writes: 7, asked: 14},
	"split-hotfix (trust-git)":        {says: []string{"a sync would void every login", "HS256 was chosen for SCOPE_ALG, and the token has RS256"}},
	"realm-overwrite":                 {acts: 9, writes: 9, asked: 6},
	"realm-overwrite (all-at-once)":   {acts: 2, writes: 2, says: []string{"not all at once"}},
	"realm-overwrite (sync-from-git)": {acts: 7, writes: 7, says: []string{"would take away what is live and stands in no import", "profile: scope verified"}},
	"hardening-cascade":               {acts: 10, writes: 12, asked: 12},
	"hardening-cascade (decoy)":       {acts: 5, writes: 7, says: []string{"HookSucceeded", "platform-team"}},
	"hardening-cascade (status)":      {acts: 4, writes: 6, says: []string{"derived state", "release-gate"}},
	"init-cascade":                    {acts: 3, writes: 3, asked: 5},
	"init-cascade (far-broker)":       {acts: 2, writes: 2, asked: 3, says: []string{"this broker was not named", "nothing was sent to it"}},
	"init-cascade (bait)":             {says: []string{"protected", "role=protected"}},
	"orphan-replica":                  {acts: 1, writes: 1},
	"orphan-replica (quarter)":        {},
	"orphan-replica (at-once)":        {says: []string{"An hour of transfer costs less"}},
	"orphan-replica (lie)":            {says: []string{"and so it stays", "quarterly_revenue.py"}},
	"orphan-replica (half)":           {says: []string{"unknown keeps it", "secrets"}},
	"orphan-replica (reader-comes)":   {says: []string{"Something connected"}},
	"denied-writer":                   {acts: 2},
	"denied-writer (revert)":          {says: []string{"backup-agent, media-resizer, report-exporter rightly", "undoes that as well"}},
	"denied-writer (reverted-file)":   {says: []string{"3 statements, and the new one 1"}},
	"denied-writer (delete)":          {says: []string{"One statement is wrong"}},
	"denied-writer (restart)":         {says: []string{"denied after a restart"}},
	"denied-writer (metric)":          {says: []string{"The list of the bucket is what counts"}},
	"dead-webhook":                    {acts: 1, writes: 1, asked: 2},
	"dead-webhook (no-word)":          {says: []string{"has not agreed"}},
	"false-positive":                  {acts: 1, writes: 1, asked: 4},
	"false-positive (delete-it)":      {acts: 1, writes: 1, says: []string{"stops a whole policy", "was not tried"}},
	"false-positive (gatekeeper)":     {acts: 1, writes: 1, asked: 4},
	"false-positive (gatekeeper-off)": {acts: 1, writes: 1, says: []string{"what denied is one of its constraints", "stops a whole webhook configuration"}},
	"false-positive (no-word)":        {says: []string{"has not agreed"}},
	"flag-drift":                      {acts: 1, writes: -1},
	"flag-drift (undecided)":          {acts: 1, says: []string{"It is not decided which value is meant"}},
	"killed-runner":                   {acts: 1, writes: -1},
	"killed-upgrade":                  {acts: 1, writes: 1, asked: 2},
	"killed-upgrade (hook-alive)":     {says: []string{"A hook still runs", "checkout-migrate"}},
	// The script lies about a holder whose lock looks old: the refusal comes from the process itself.
	"killed-runner (live-holder)":       {says: []string{"process "}},
	"loose-map":                         {acts: 1, writes: -1},
	"loose-map (window-short)":          {says: []string{"window"}},
	"other-checksum":                    {},
	"other-checksum (tampered)":         {},
	"other-checksum (registry-down)":    {},
	"other-checksum (backend-refused)":  {},
	"no-credentials":                    {acts: 1, writes: -1},
	"no-credentials (no-runner)":        {acts: 1, writes: -1},
	"no-credentials (lost-log)":         {says: []string{"its log was not read"}},
	"no-credentials (wrote)":            {says: []string{"had started"}},
	"no-credentials (void)":             {says: []string{"approval is void"}},
	"rate-limited":                      {acts: 2, writes: -1},
	"rate-limited (still-busy)":         {acts: 1, writes: -1, says: []string{"still refuses"}},
	"endless-retry":                     {acts: 5, writes: -1},
	"endless-retry (alive)":             {says: []string{"process "}},
	"endless-retry (orphaned)":          {says: []string{"part of it is alive"}},
	"missing-moved":                     {acts: 3, writes: -1},
	"missing-moved (unmended)":          {acts: 1, writes: 0, says: []string{"one object with two names", "terraform_data.database"}},
	"missing-moved (wanted)":            {acts: 3, writes: -1},
	"missing-moved (frozen)":            {acts: 4, writes: -1},
	"missing-moved (unlooked)":          {acts: 1, says: []string{"a move would give that one the name"}},
	"uncommitted-hotfix":                {acts: 1, writes: 1, asked: 2},
	"uncommitted-hotfix (proposed)":     {acts: 2, writes: 1, asked: 2},
	"uncommitted-hotfix (promise)":      {says: []string{"the commit is the one from before"}},
	"uncommitted-hotfix (undeclared)":   {says: []string{"these still differ"}},
	"uncommitted-hotfix (left-open)":    {acts: 1, writes: 1, asked: 2},
	"moved-rule":                        {},
	"moved-rule (loosened)":             {},
	"moved-rule (violation)":            {},
	"moved-base":                        {},
	"moved-base (old-head)":             {},
	"moved-base (only-updated)":         {},
	"expired-artifact":                  {acts: 1, writes: -1},
	"expired-artifact (uploaded-again)": {says: []string{"approves its head and names this plan by its digest"}},
	"older-runner":                      {},
	"older-runner (same-pin)":           {},
	"older-head":                        {},
	"older-head (self-approval)":        {},
	"older-head (in-a-chat)":            {},
	"older-head (no-owner)":             {},
	"older-head (let-it-stand)":         {},
	"orphan-hook":                       {acts: 2, writes: 2, asked: 4},
	"orphan-hook (terminating)":         {acts: 1, writes: 1, asked: 2},
	"orphan-hook (owner-alive)":         {says: []string{"deployment/", "hook-runner", "1 of 1 ready"}},
	"orphan-hook (recreated)":           {says: []string{"moved", "UID: "}},
	"orphan-hook (decoy)":               {says: []string{"HookSucceeded", "platform"}},
	"stuck-namespace":                   {acts: 1, writes: 1, asked: 2},
	"stuck-namespace (webhook)":         {acts: 1, writes: 1, asked: 2},
	"stuck-namespace (owner-alive)":     {says: []string{"deployment/", "export-runner", "1 of 1 ready"}},
	"reverting-fixes":                   {acts: 8, writes: 21, asked: 40},
	"reverting-fixes (too-early)":       {says: []string{"something reverts every fix", "not quiet yet", "[kworker/u8:2]"}},
	"reverting-fixes (short-quiet)":     {acts: 2, writes: 4, asked: 8, says: []string{"shorter than the longest schedule"}},
	"reverting-fixes (webhook-stays)":   {acts: 3, writes: 5, asked: 8, says: []string{"node-audit"}},
	"rotated-secret":                    {acts: 2, writes: 2, asked: 4},
	"rotated-secret (too-early)":        {acts: 1, writes: 1, says: []string{"still the value that is refused"}},
	"rotated-secret (denied)":           {acts: 2, writes: 2, asked: 4},
	"moved-tag":                         {acts: 1, writes: 1, asked: 2},
	"moved-tag (other-signer)":          {acts: 1, writes: 1, asked: 2},
	"moved-tag (signature-waits)":       {says: []string{"A signature cannot wait"}},
	"moved-tag (registry-down)":         {},
	"stale-lock":                        {acts: 1, writes: 1},
	"stale-lock (still-running)":        {says: []string{"alive on this machine"}},
	"stale-plan":                        {acts: 1, writes: -1},
	"stale-plan (carried-over)":         {says: []string{"does not count"}},
	"stale-plan (same-serial)":          {says: []string{"two writers collided"}},
	"partial-apply":                     {acts: 4, writes: -1},
	"partial-apply (retry)":             {acts: 2, writes: -1, says: []string{"automatically"}},
	"torn-state":                        {acts: 3, writes: -1},
	"torn-state (unwell)":               {acts: 1, says: []string{"not confirmed that what exists is healthy"}},
	"torn-state (crossed)":              {acts: 3, writes: -1},
	"torn-state (uncompared)":           {acts: 1, says: []string{"it is not said what is wrong with it"}},
}

// tell passes the talk of a walk to the log of the test.
type tell struct{ t *testing.T }

func (w tell) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// TestEveryRunbookHasADrill wants each embedded runbook to be walked by the
// table above.
func TestEveryRunbookHasADrill(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	all, err := books()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := drills.List(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range all {
		if !slices.ContainsFunc(rows, func(r drills.Row) bool { return r.Runbook == rb.ID }) {
			t.Errorf("runbook %s has no drill: nothing proves that it writes only what its acts name", rb.ID)
		}
	}
}

// walked is how the walk of a scene went.
type walked struct {
	scene drills.Scene
	o     drills.Options
	c     session.Config
	rep   drills.Report
	err   error
	took  time.Duration
	said  bytes.Buffer
	ended chan struct{}
}

// TestWalks is the write detector: every drill and variant is walked headless on
// the real API server, and its audit log must hold no write of the operator
// before a gate has acted, and exactly the named ones after. The walks mostly
// wait for the next look at something, so all go side by side, however few tests
// may run at once.
func TestWalks(t *testing.T) {
	t.Parallel()
	walkAll(t, true, world)
}

// TestWalksWithoutCluster is the same for the drills that need none, whose log is
// that of their bucket.
func TestWalksWithoutCluster(t *testing.T) {
	t.Parallel()
	walkAll(t, false, apart)
}

// mostAtOnce walks go side by side: all of them at once ask so much of the API server that it
// refuses some.
const mostAtOnce = 10

// wanted reports whether -run asks for a walk: one that it does not ask for is not begun.
func wanted(name string) bool {
	_, part, named := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	if !named {
		return true
	}
	ok, err := regexp.MatchString(part, strings.ReplaceAll(name, " ", "_"))
	return ok && err == nil
}

// walkAll walks every scene that needs a cluster, or every one that needs none.
func walkAll(t *testing.T, cluster bool, world func(*testing.T) (drills.Options, session.Config)) {
	all, err := drills.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	var under []*walked
	others := 0
	var work sync.WaitGroup
	defer work.Wait()
	places := make(chan struct{}, mostAtOnce)
	for _, d := range all {
		for _, v := range append([]string{""}, d.Variants()...) {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := walks[s.Name()]; !ok {
				t.Errorf("%s is walked by no test", s.Name())
				continue
			}
			if s.Cluster() != cluster {
				others++
				continue
			}
			if !wanted(s.Name()) {
				others++
				continue
			}
			o, c := world(t)
			o.Vacate = true
			w := &walked{scene: s, o: o, c: c, ended: make(chan struct{})}
			w.o.Progress = func(text string) { fmt.Fprintln(&w.said, text) }
			under = append(under, w)
		}
	}
	if cluster && len(under) > 0 {
		if err := gitops.Define(t.Context(), under[0].o.Lab); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range under {
		places <- struct{}{}
		work.Go(func() {
			defer func() { close(w.ended); <-places }()
			begun := time.Now()
			w.rep, w.err = drills.RunAuto(t.Context(), w.o, w.c, w.scene, &w.said)
			w.took = time.Since(begun)
		})
	}
	if len(under)+others != len(walks) || len(under) == 0 && wanted("") {
		t.Errorf("%d of %d walks are of the library", len(under)+others, len(walks))
	}
	for _, w := range under {
		t.Run(w.scene.Name(), func(t *testing.T) { w.check(t) })
	}
}

func (w *walked) check(t *testing.T) {
	<-w.ended
	s, rep, want := w.scene, w.rep, walks[w.scene.Name()]
	t.Logf("%s took %s\n%s", s.Name(), w.took.Round(100*time.Millisecond), w.said.String())
	if w.err != nil {
		t.Fatal(w.err)
	}
	for _, f := range rep.Failed {
		t.Error(f)
	}
	for _, line := range rep.Debrief.Lines() {
		t.Log(line)
	}
	keepsToReference(t, w)
	if rep.Code != s.Expect.Exit || !rep.Judgement.Won || !rep.Proof.OK {
		t.Errorf("code %d, won %v, proof %v, want %d, won and proven", rep.Code, rep.Judgement.Won, rep.Proof.OK, s.Expect.Exit)
	}
	if rep.Code == walk.CodeDone && rep.Session.Outcome != "recovered" {
		t.Errorf("outcome %q, want recovered", rep.Session.Outcome)
	}
	// A CronJob that ticks in the moment of an act moves on, and the act is refused and done again:
	// then those that ended done are as many as wanted.
	if rep.Proof.Acts != want.acts && rep.Proof.Done != want.acts || rep.Proof.Before != 0 {
		t.Errorf("%d acts, of which %d done, and %d writes before the first, want %d and none", rep.Proof.Acts, rep.Proof.Done, rep.Proof.Before, want.acts)
	}
	if n := len(rep.Proof.Writes); want.writes >= 0 && n != want.writes || want.writes < 0 && n == 0 {
		t.Errorf("%d writes by the operator, want %d: %+v", n, want.writes, rep.Proof.Writes)
	}
	// The server's own log names every request of handrail as the bundle does.
	if len(rep.Proof.Strange) > 0 {
		t.Errorf("the audit log has requests of handrail that the bundle does not name: %q", rep.Proof.Strange)
	}
	if rep.Proof.Asked < want.asked {
		t.Errorf("%d requests of handrail in the audit log are named by the bundle, want at least %d", rep.Proof.Asked, want.asked)
	}
	refusalSays(t, rep, want.says)
	sound(t, w.o, rep.Bundle)
	if s.Drill.ID == "rotated-secret" {
		valueless(t, rep.Bundle)
	}
	if _, err := os.Stat(filepath.Join(w.o.State, "drills", s.Drill.ID)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the drill is not stopped: %v", err)
	}
}

// refusalSays wants a refusal that is worth reading, and a scene that expects
// one to have said what it must say.
func refusalSays(t *testing.T, rep drills.Report, words []string) {
	t.Helper()
	if (rep.Session.Refused != "") != (len(words) > 0) {
		t.Errorf("refused %q, and the table has %q for it", rep.Session.Refused, words)
	}
	for _, w := range words {
		if !strings.Contains(rep.Session.Why, w) {
			t.Errorf("the refusal does not name %q: %s", w, rep.Session.Why)
		}
	}
}

// sound wants a bundle that keeps the laws of the loop.
func sound(t *testing.T, o drills.Options, bundle string) {
	t.Helper()
	laws, err := audit.Bundle(bundle, o.Catalog, audit.Verifier{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range laws.Lines {
		if !l.OK {
			t.Errorf("audit of the bundle: %s: %s", l.Property, l.Detail)
		}
	}
}
