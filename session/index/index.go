// Package index finds incidents, and what is in them, over many bundles.
//
// The bundles are the truth. What the package keeps beside them is a cache: it
// holds nothing but what the bundles hold (redacted text), is held against
// them each time it is used, and may be deleted at any time. A part of it that
// is damaged, of another version or older than its bundle is not used; the
// bundle is read instead.
package index

import (
	"path/filepath"
	"time"

	"handrail/triage"
)

// Row is one incident as a list shows it.
type Row struct {
	ID       string
	Path     string
	Title    string
	Runbook  string
	Runbooks []string // every one that it went through
	Severity triage.Severity
	Phase    triage.Phase
	Failure  string // failure state that was concluded, "" for none yet
	Outcome  string // recovered, open or aborted; "" while it goes on
	Drill    string
	Kind     string // triage.Readiness of a review, "" of an incident
	Sealed   bool   // nothing follows the newest seal
	Opened   time.Time
	Updated  time.Time // of the newest entry
	Closed   time.Time
	Entries  int64
	OpenSeq  int64         // of the entry that opened it
	Opener   string        // who opened it
	Operator string        // who is at the keyboard, or was last
	Target   Target        // what it is about
	Debts    []triage.Debt // open or carried
	Acts     []Act         // that began, in their order
	Err      string        // why the bundle could not be read to its end
}

// Store is the bundles in one directory, with the cache of what is in them.
// Several programs may use one at once.
type Store struct {
	dir   string
	cache string // "" for none
}

// At is the store of the bundles in dir. Its cache, a directory that is made
// when it is missing, may be empty for none.
func At(dir, cache string) Store { return Store{dir: filepath.Clean(dir), cache: cache} }

// Rows lists the incidents in a directory, the newest first. A bundle that
// cannot be read is a row with Err set, never left out. The cache lies beside
// the directory.
func Rows(dir string) ([]Row, error) { return At(dir, CacheOf(dir)).Rows() }

// CacheOf is where the cache of the incidents of this machine lies.
func CacheOf(dir string) string { return filepath.Join(filepath.Dir(filepath.Clean(dir)), "index") }
