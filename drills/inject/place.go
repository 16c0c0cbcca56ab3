package inject

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"handrail/drills/stage"
)

// placeFile is the verb file.place: a file as it lies beside the person who walks the
// drill, whose path is drill.NAME. With fill, ${namespace}, ${now}, ${now-25m} and ${today+3d} in it are filled in.
type placeFile struct {
	As   string `key:"as,required" as:"name"`
	File []byte `key:"file,required" as:"file"`
	Fill bool   `key:"fill"`
}

var blank = regexp.MustCompile(`\$\{([^}]*)\}`)

// filled puts a namespace and times into a text: a time of RFC 3339 to the second, a date in UTC.
func filled(text []byte, namespace string, now time.Time) ([]byte, error) {
	var bad error
	out := blank.ReplaceAllFunc(text, func(m []byte) []byte {
		word := string(m[2 : len(m)-1])
		if word == "namespace" {
			return []byte(namespace)
		}
		name, by := word, ""
		if i := strings.IndexAny(word, "+-"); i >= 0 {
			name, by = word[:i], word[i:]
		}
		days, isDays := strings.CutSuffix(by, "d")
		n, err := strconv.Atoi(days)
		span, later := time.ParseDuration(by)
		switch {
		case name == "today" && (by == "" || isDays && err == nil):
			return []byte(now.UTC().AddDate(0, 0, n).Format(time.DateOnly))
		case name == "now" && (by == "" || later == nil):
			return []byte(now.UTC().Add(span).Format(time.RFC3339))
		}
		bad = fmt.Errorf("nothing fills %s", m)
		return m
	})
	return out, bad
}

func placed(st *stage.Stage, name string) string {
	return filepath.Join(st.Home, "files", name+".yaml")
}

func (a placeFile) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a file %s", a.As)
	if err := os.MkdirAll(filepath.Dir(placed(st, a.As)), 0o700); err != nil {
		return err
	}
	text := a.File
	if a.Fill {
		var err error
		if text, err = filled(text, st.Rec.Namespace.Name, st.Now()); err != nil {
			return err
		}
	}
	return os.WriteFile(placed(st, a.As), text, 0o600)
}

// paste is the verb module.paste: a text that a step of the incident gives, as the
// operator pastes it into the module.
type paste struct {
	Step string `key:"step,required" as:"name"`
	Fact string `key:"fact,required" as:"name"`
	File string `key:"file,required" as:"file name"`
}

func (a paste) apply(ctx context.Context, st *stage.Stage) error {
	text, err := st.Fact(a.Step, a.Fact)
	if err == nil && text == "" {
		err = fmt.Errorf("%s of %s is empty: there is nothing to paste", a.Fact, a.Step)
	}
	if err != nil {
		return err
	}
	st.Say("pasting %s of %s into %s", a.Fact, a.Step, a.File)
	return os.WriteFile(filepath.Join(st.Rec.Dir, a.File), []byte(text), 0o600)
}
