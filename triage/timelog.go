package triage

import "sync/atomic"

// timelog is the storage of a timeline that grows. States share it: each sees
// its own prefix, clipped, so that an append outside this package copies. The
// first fold onto a state claims the next row and writes it in place; a second
// fold onto the same state finds it claimed and copies. So a journal folds in
// linear time, and no state ever sees a row that is not its own.
type timelog struct {
	used atomic.Int64
	rows []Moment
}

// grown returns rows with m at the end, and its storage.
func grown(rows []Moment, log *timelog, m Moment) ([]Moment, *timelog) {
	n := len(rows)
	ours := log != nil && n < len(log.rows) && (n == 0 || &log.rows[0] == &rows[0])
	if !ours || !log.used.CompareAndSwap(int64(n), int64(n+1)) {
		log = &timelog{rows: make([]Moment, max(16, 2*(n+1)))}
		copy(log.rows, rows)
		log.used.Store(int64(n + 1))
	}
	log.rows[n] = m
	return log.rows[: n+1 : n+1], log
}
