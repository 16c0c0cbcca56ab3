package mariadb

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"handrail/drills/lab"
)

// Pair is a primary and a replica of it.
type Pair struct {
	Primary, Replica *Server

	password string // of the account of the replication
	dir      string
}

// replicator is the account by which the replica reads the log of the primary, from loopback alone.
const replicator = "replicator"

// The replica logs what it applies, as a server does that may be promoted.
const (
	ofPrimary = "server-id=1\nlog-bin=bin\nbinlog-format=MIXED\n"
	ofReplica = "server-id=2\nlog-bin=bin\nrelay-log=relay\nlog-slave-updates\nbinlog-format=STATEMENT\nread-only\nskip-slave-start\n"
)

const filePair = "pair.json"

// stored is what another process needs to reach a pair.
type stored struct {
	Password         string
	Primary, Replica lab.Process
}

// Plan lays out a pair in dir. How a process of the lab is started says [lab.Lab.Process], or [lab.Options.Process].
func Plan(ctx context.Context, process func(ctx context.Context, name, dir, addr string) (lab.Process, []string, error), dir string) (*Pair, error) {
	ports, err := lab.LastingPorts(2)
	if err != nil {
		return nil, err
	}
	of := stored{Password: rand.Text()}
	for i, one := range []struct {
		to             *lab.Process
		name, settings string
	}{{&of.Primary, "primary", ofPrimary}, {&of.Replica, "replica", ofReplica}} {
		home := filepath.Join(dir, one.name)
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, err
		}
		if *one.to, _, err = process(ctx, "mariadb", home, fmt.Sprintf("127.0.0.1:%d", ports[i])); err != nil {
			return nil, err
		}
		one.to.Name = one.name
		if err := extend(filepath.Join(home, "my.cnf"), one.settings); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, filePair), raw, 0o600); err != nil {
		return nil, err
	}
	return At(dir)
}

func extend(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// At finds the pair that [Plan] laid out in dir.
func At(dir string) (*Pair, error) {
	raw, err := os.ReadFile(filepath.Join(dir, filePair))
	if err != nil {
		return nil, err
	}
	var of stored
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, fmt.Errorf("the pair of databases: %w", err)
	}
	p := &Pair{password: of.Password, dir: dir}
	if p.Primary, err = newServer(of.Primary); err != nil {
		return nil, err
	}
	p.Replica, err = newServer(of.Replica)
	return p, err
}

// Processes are how the two servers are started, the primary first.
func (p *Pair) Processes() []lab.Process { return []lab.Process{p.Primary.process, p.Replica.process} }

// Start fetches MariaDB if need be, starts a pair with its data in dir, and returns when the replica has what the primary has.
func Start(ctx context.Context, o lab.Options, dir string) (*Pair, error) {
	for try := 0; ; try++ {
		p, err := Plan(ctx, o.Process, filepath.Join(dir, fmt.Sprint("pair", try)))
		if err != nil {
			return nil, err
		}
		for _, s := range []*Server{p.Primary, p.Replica} {
			if s.running, err = lab.Start(ctx, s.process); err != nil {
				break
			}
		}
		if err == nil {
			err = p.Join(ctx)
		}
		if err == nil {
			return p, nil
		}
		err = errors.Join(err, p.Close())
		if !errors.Is(err, lab.ErrPortTaken) || try == 5 {
			return nil, err
		}
	}
}

// Close ends the servers that [Start] started.
func (p *Pair) Close() error {
	var err error
	for _, s := range []*Server{p.Replica, p.Primary} {
		if s.running != nil {
			err = errors.Join(err, s.running.Close())
		}
	}
	return err
}

// Join makes the table shop.orders on the primary and starts the replication. It returns when the replica has both.
func (p *Pair) Join(ctx context.Context) error {
	host, port := p.Primary.host, p.Primary.port
	if _, err := p.Primary.Query(ctx, fmt.Sprintf(`CREATE USER %[1]s@'127.0.0.1' IDENTIFIED BY '%[2]s'; GRANT REPLICATION SLAVE ON *.* TO %[1]s@'127.0.0.1';
CREATE DATABASE shop; CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, reference VARCHAR(64) NOT NULL) ENGINE=InnoDB;
INSERT INTO shop.orders (reference) VALUES ('A-1')`, replicator, p.password)); err != nil {
		return err
	}
	if _, err := p.Replica.Query(ctx, fmt.Sprintf(`CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos; START REPLICA`,
		host, port, replicator, p.password)); err != nil {
		return err
	}
	return p.Await(ctx)
}
