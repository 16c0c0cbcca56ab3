package mariadb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Change is what is done to the primary that the replica does not bear.
type Change struct {
	Format string // of the log of the primary from then on
	Errno  string // by which the replica stops, "" where it goes on

	before string // what was done to the replica alone
	under  string // what the primary writes as MIXED, which the replica takes
	write  string // what it writes then
}

// The changes, each from MIXED.
var (
	ToStatement = Change{"STATEMENT", "1665", "STOP REPLICA; SET GLOBAL tx_isolation='READ-COMMITTED'; START REPLICA", byFunction, byFunction}
	ToRow       = Change{"ROW", "1677", "SET sql_log_bin=0; ALTER TABLE shop.orders MODIFY reference VARBINARY(36) NOT NULL", byText, byText}
	// RowAlone is not refused: it is what MySQL refuses with 1666.
	RowAlone = Change{"ROW", "", "", byText, byText}
)

const (
	byText     = "INSERT INTO shop.orders (reference) VALUES ('A-7')"
	byFunction = "INSERT INTO shop.orders (reference) VALUES (uuid())" // MIXED logs it as a row
)

// pollEvery is how often a state is asked for that MariaDB gives no way to wait for.
const pollEvery = 20 * time.Millisecond

// Break writes one row as MIXED, changes the format of the log of the primary, and writes one more by a session that began after it.
// It returns once the replica stopped, or has the row where it is not to stop.
func (p *Pair) Break(ctx context.Context, c Change) error {
	if c.before != "" {
		if _, err := p.Replica.Query(ctx, c.before); err != nil {
			return err
		}
	}
	if err := p.Write(ctx, c.under); err != nil {
		return err
	}
	if err := p.Await(ctx); err != nil {
		return err
	}
	if _, err := p.Primary.Query(ctx, "SET GLOBAL binlog_format="+c.Format); err != nil {
		return err
	}
	if err := p.Write(ctx, c.write); err != nil {
		return err
	}
	if c.Errno == "" {
		return p.Await(ctx)
	}
	return p.stopped(ctx, c.Errno)
}

// Write runs a statement on the primary.
func (p *Pair) Write(ctx context.Context, statement string) error {
	_, err := p.Primary.Query(ctx, statement)
	return err
}

// Retry starts the replica again, and returns once it stopped by the error of a change. Each call leaves the error once more in its
// log.
func (p *Pair) Retry(ctx context.Context, c Change) error {
	if _, err := p.Replica.Query(ctx, "START REPLICA SQL_THREAD"); err != nil {
		return err
	}
	return p.stopped(ctx, c.Errno)
}

// Await returns once the replica has all that the primary wrote, and fails where it stopped.
func (p *Pair) Await(ctx context.Context) error {
	at, err := p.Primary.column(ctx, "SELECT @@gtid_binlog_pos")
	if err != nil {
		return err
	}
	return p.until(ctx, func(status string) (bool, error) {
		if no := field(status, "Last_SQL_Errno"); no != "0" && no != "" {
			return false, fmt.Errorf("the replica stopped: %s", field(status, "Last_SQL_Error"))
		}
		is, err := p.Replica.column(ctx, "SELECT @@gtid_slave_pos")
		return is == at, err
	})
}

func (p *Pair) stopped(ctx context.Context, errno string) error {
	return p.until(ctx, func(status string) (bool, error) {
		if is := field(status, "Last_SQL_Errno"); is != errno && is != "0" {
			return false, fmt.Errorf("the replica stopped by another error: %s", field(status, "Last_SQL_Error"))
		}
		return field(status, "Slave_SQL_Running") == "No" && field(status, "Last_SQL_Errno") == errno, nil
	})
}

// until asks for the status of the replica until done says so.
func (p *Pair) until(ctx context.Context, done func(status string) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the replica did not come to it within a minute"))
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		status, err := p.Replica.Status(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			if is, err := done(status); is || err != nil && ctx.Err() == nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
