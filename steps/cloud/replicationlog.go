package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

const mostLog = 64 << 20 // bytes

func replicationLogKind() steps.Kind {
	return steps.Kind{
		Name: "cloud/replication-log", Class: steps.Probe, Facts: replicationLogFacts(),
		Doc: "Reads the saved error log of a replica of MySQL or MariaDB: by which error its replication stops, how often it says so, and whether the format of the binary log is why.",
		Params: []steps.Field{
			{Name: "file", Type: steps.Path, Required: true, Doc: "the log, as aws rds download-db-log-file-portion prints it, or the status of the replica"},
		},
		Touches: []string{"reads the file, and keeps it"},
		Reads:   func(e steps.Env) steps.Prober { return replicationLog{e} },
	}
}

func replicationLogFacts() []steps.Field {
	return []steps.Field{
		{Name: "error", Type: steps.Enum, Values: []string{"binlog-format", "row-image", "other", "none"}, Doc: "binlog-format: an error that names the format of the binary log (1661 to 1666); row-image: rows that its table does not take, which a log of statements does not have (1535, 1677); other: another error of its SQL or IO thread; none: the log has none, unknown where it is the log of no server"},
		{Name: "code", Type: steps.Int, Doc: "number of the newest such error"},
		{Name: "says", Type: steps.String, Doc: "the newest such error"},
		{Name: "times", Type: steps.Int, Doc: "how often the log has an error of its replication"},
		{Name: "every", Type: steps.Duration, Doc: "the middle of the times between two of them; unknown where the log has no times, or fewer than two"},
		{Name: "first", Type: steps.String, Doc: "time of the first, as the log has it"},
		{Name: "last", Type: steps.String, Doc: "time of the last, as the log has it"},
	}
}

type replicationLog struct{ env steps.Env }

var (
	// Lines of MySQL 5.7 and 8, and of MariaDB: "[ERROR] [MY-010584] [Repl] Replica SQL for channel '': …", "[ERROR] Slave SQL: …".
	ofReplica = regexp.MustCompile(`(?i)(?:\[ERROR\][^\n]{0,80}?(?:slave|replica)(?: (?:SQL|I/O|worker)\b[^:\n]{0,60})?[^:\n]{0,40}:|Last_(?:SQL|IO)_Error:)\s*(\S[^\n]*)`)
	ofServer  = regexp.MustCompile(`(?im)\[(?:Note|System|Warning|ERROR)\]|Last_(?:SQL|IO)_Errno:`)
	// "Error_code: 1666", "Error_code: MY-001666", "Internal MariaDB error code: 1665", and the number of a status on a line of its own.
	ofCode   = regexp.MustCompile(`(?i)(?:error[_ ]code: (?:MY-)?0*|Last_(?:SQL|IO)_Errno:\s*)([0-9]{1,6})\b`)
	ofTime   = regexp.MustCompile(`^\s*([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][ 0-9][0-9]:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)`)
	byFormat = regexp.MustCompile(`(?i)BINLOG_FORMAT ?=|binlog[_ ]format|is in (?:row|statement) format|limited to (?:row|statement)-based logging`)
	byImage  = regexp.MustCompile(`(?i)cannot be converted from type|Table definition on (?:master|source) and (?:slave|replica) does not match`)
)

// failure is one error of a replication.
type failure struct {
	at   string // as the log has it, "" for none
	when time.Time
	says string
	code int
}

// failures are those of a log, in its order.
func failures(text string) (out []failure) {
	status := 0 // the number that a status says before its error
	for line := range strings.Lines(text) {
		if m := ofCode.FindStringSubmatch(line); m != nil && strings.Contains(line, "_Errno:") {
			status, _ = strconv.Atoi(m[1])
		}
		m := ofReplica.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f := failure{says: clean(m[1])}
		if c := ofCode.FindStringSubmatch(line); c != nil {
			f.code, _ = strconv.Atoi(c[1])
		} else if strings.Contains(line, "_Error:") {
			f.code = status
		}
		if at := ofTime.FindStringSubmatch(line); at != nil {
			f.at = at[1]
			for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 _5:04:05"} { // a fraction is read as well
				if when, err := time.Parse(form, f.at); err == nil {
					f.when = when
				}
			}
			if f.when.IsZero() { // MariaDB writes an hour below ten with a blank
				f.when, _ = time.Parse("2006-01-02 15:04:05", f.at[:11]+strings.Replace(f.at[11:], " ", "0", 1))
			}
		}
		out = append(out, f)
	}
	return out
}

// kind is what an error is about.
func (f failure) kind() string {
	switch {
	case f.code >= 1661 && f.code <= 1666, byFormat.MatchString(f.says):
		return "binlog-format"
	case f.code == 1535, f.code == 1677, byImage.MatchString(f.says):
		return "row-image"
	}
	return "other"
}

// Probe implements steps.Prober.
func (p replicationLog) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := steps.Below(p.env.Dir, in.Text("file"))
	raw, err := steps.ReadFile(name, mostLog)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("log of the replica: %w", err)
	}
	text := strings.ToValidUTF8(string(raw), "?")
	if !ofServer.MatchString(text) {
		return steps.Observation{}, errors.New("it is no error log of MySQL or MariaDB, and no status of a replica")
	}
	f := steps.NewFacts(replicationLogFacts())
	obs := steps.Observation{Command: "grep -iE 'slave|replica' " + steps.Quote(name)}
	if gap := steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	all := failures(text)
	f.Set("times", steps.IntOf(int64(len(all))))
	if len(all) == 0 {
		f.Set("error", steps.EnumOf("none"))
		obs.Summary = "The log has no error of a replication."
		obs.Facts = f.Rest("the log has no error of a replication")
		return obs, nil
	}
	last := all[len(all)-1]
	f.Set("error", steps.EnumOf(last.kind()))
	f.Set("says", steps.StringOf(last.says))
	if last.code > 0 {
		f.Set("code", steps.IntOf(int64(last.code)))
	}
	for fact, at := range map[string]string{"first": all[0].at, "last": last.at} {
		if at != "" {
			f.Set(fact, steps.StringOf(at))
		}
	}
	obs.Summary = fmt.Sprintf("%d errors of its replication, the last: %s", len(all), steps.Clip(last.says, 160))
	var between []time.Duration
	for i := 1; i < len(all); i++ {
		if !all[i].when.IsZero() && !all[i-1].when.IsZero() && !all[i].when.Before(all[i-1].when) {
			between = append(between, all[i].when.Sub(all[i-1].when))
		}
	}
	if len(between) > 0 {
		slices.Sort(between)
		f.Set("every", steps.DurationOf(between[len(between)/2]))
		obs.Summary = fmt.Sprintf("%d errors of its replication, one each %s, the last: %s", len(all), between[len(between)/2], steps.Clip(last.says, 160))
	}
	obs.Facts = f.Rest("the log does not say it")
	return obs, nil
}
