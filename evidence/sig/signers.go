package sig

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signers say whose signature counts: the content of an allowed_signers file, in the format of ssh-keygen(1).
// Nil knows no signer.
type Signers struct{ rows []signerRow }

type signerRow struct {
	line       int
	principals string // as written: patterns behind commas
	namespaces string // patterns; "" for any
	after      time.Time
	before     time.Time
	authority  bool
	key        []byte
}

const (
	maxSigners     = 1 << 20
	maxSignerLines = 10_000
)

// LoadSigners reads an allowed_signers file.
func LoadSigners(name string) (*Signers, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("allowed signers: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSigners+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("allowed signers %q: %w", name, err)
	}
	s, err := ParseSigners(raw)
	if err != nil {
		return nil, fmt.Errorf("allowed signers %q: %w", name, err)
	}
	return s, nil
}

// ParseSigners reads the lines of an allowed_signers file. A line that it does not understand whole is an error and
// not passed over, since the restriction that it would lose may be the one that mattered.
func ParseSigners(raw []byte) (*Signers, error) {
	if len(raw) > maxSigners {
		return nil, fmt.Errorf("over %d bytes", maxSigners)
	}
	s := &Signers{}
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.Trim(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" || line[0] == '#' {
			continue
		}
		row, err := parseSigner(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		row.line = i + 1
		if s.rows = append(s.rows, row); len(s.rows) > maxSignerLines {
			return nil, fmt.Errorf("over %d signers", maxSignerLines)
		}
	}
	return s, nil
}

func parseSigner(line string) (signerRow, error) {
	var row signerRow
	for _, c := range []byte(line) {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return row, errors.New("control character")
		}
	}
	words, err := signerWords(line)
	if err != nil {
		return row, err
	}
	if len(words) < 3 {
		return row, errors.New("expected: principals, options if any, key type, key")
	}
	row.principals = strings.ReplaceAll(words[0], `"`, "")
	if err := goodPatterns(row.principals); err != nil {
		return row, fmt.Errorf("principals %q: %w", words[0], err)
	}
	words = words[1:]
	if !isKeyType(words[0]) {
		if err := row.options(words[0]); err != nil {
			return row, err
		}
		words = words[1:]
	}
	if len(words) < 2 || !isKeyType(words[0]) {
		return row, fmt.Errorf("no key type that handrail knows before %q", last(words))
	}
	row.key, err = base64.StdEncoding.DecodeString(words[1])
	if err != nil || base64.StdEncoding.EncodeToString(row.key) != words[1] {
		return row, errors.New("the key is not base64")
	}
	pub, err := ssh.ParsePublicKey(row.key)
	if err != nil {
		return row, fmt.Errorf("the key: %w", err)
	}
	if pub.Type() != words[0] || !bytes.Equal(pub.Marshal(), row.key) {
		return row, fmt.Errorf("the key is not a %s", words[0])
	}
	if row.authority {
		return row, nil
	}
	return row, usableKey(pub)
}

func last(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

func isKeyType(w string) bool {
	return strings.HasPrefix(w, "ssh-") || strings.HasPrefix(w, "ecdsa-sha2-") || strings.HasPrefix(w, "sk-ssh-") || strings.HasPrefix(w, "sk-ecdsa-")
}

// signerWords splits at blanks outside of double quotes.
func signerWords(line string) ([]string, error) {
	var words []string
	start, quoted := -1, false
	for i := 0; i <= len(line); i++ {
		blank := i == len(line) || line[i] == ' ' || line[i] == '\t'
		switch {
		case blank && quoted && i < len(line):
		case blank:
			if start >= 0 {
				words = append(words, line[start:i])
			}
			start = -1
		default:
			if start < 0 {
				start = i
			}
			if line[i] == '"' {
				quoted = !quoted
			}
		}
	}
	if quoted {
		return nil, errors.New("a quote without its end")
	}
	return words, nil
}

func (row *signerRow) options(list string) error {
	seen := map[string]bool{}
	for list != "" {
		name := list
		if i := strings.IndexAny(list, `=,`); i >= 0 {
			name = list[:i]
		}
		rest, value := list[len(name):], ""
		if strings.HasPrefix(rest, `="`) {
			end := strings.IndexByte(rest[2:], '"')
			if end < 0 {
				return fmt.Errorf("option %q: a quote without its end", name)
			}
			value, rest = rest[2:2+end], rest[end+3:]
		} else if strings.HasPrefix(rest, "=") {
			value, rest, _ = strings.Cut(rest[1:], ",")
			if rest != "" {
				rest = "," + rest
			}
		}
		if rest != "" && rest[0] != ',' {
			return fmt.Errorf("option %q: text after its value", name)
		}
		if rest == "," {
			return errors.New("options end in a comma")
		}
		key := strings.ToLower(name)
		if seen[key] {
			return fmt.Errorf("option %q is there twice", name)
		}
		seen[key] = true
		if err := row.option(key, value); err != nil {
			return err
		}
		list = strings.TrimPrefix(rest, ",")
	}
	if !row.after.IsZero() && !row.before.IsZero() && !row.after.Before(row.before) {
		return errors.New("valid-after is not before valid-before")
	}
	return nil
}

func (row *signerRow) option(name, value string) (err error) {
	switch name {
	case "cert-authority":
		row.authority = true
	case "namespaces":
		row.namespaces = value
		err = goodPatterns(value)
	case "valid-after":
		row.after, err = signerTime(value)
	case "valid-before":
		row.before, err = signerTime(value)
	default:
		return fmt.Errorf("option %q is not known, so what it restricts is not either", name)
	}
	if err != nil {
		return fmt.Errorf("option %s=%q: %w", name, value, err)
	}
	return nil
}

// signerTime reads YYYYMMDD[HHMM[SS]][Z]; without Z it is local time, as with ssh-keygen.
func signerTime(s string) (time.Time, error) {
	digits, utc := strings.CutSuffix(s, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	for _, layout := range [...]string{"20060102", "200601021504", "20060102150405"} {
		if len(digits) == len(layout) {
			return time.ParseInLocation(layout, digits, zone)
		}
	}
	return time.Time{}, errors.New("expected YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, with Z for UTC")
}

func goodPatterns(list string) error {
	if list == "" {
		return errors.New("empty")
	}
	for _, p := range strings.Split(list, ",") {
		if strings.TrimPrefix(p, "!") == "" {
			return errors.New("an empty pattern")
		}
	}
	return nil
}

// MatchPatterns follows ssh_config(5): * and ? stand for characters, ! refuses, and a list of refusals alone matches
// nothing.
func MatchPatterns(list, s string) bool {
	hit := false
	for _, p := range strings.Split(list, ",") {
		pattern, not := strings.CutPrefix(p, "!")
		if !wildcard(pattern, s) {
			continue
		}
		if not {
			return false
		}
		hit = true
	}
	return hit
}

func wildcard(pattern, s string) bool {
	// path.Match knows classes, escapes and path separators, which these patterns do not.
	quoted := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `/`, "\x01").Replace(pattern)
	ok, err := path.Match(quoted, strings.ReplaceAll(s, "/", "\x01"))
	return err == nil && ok
}

// Permit is what the policy says of a key.
type Permit struct {
	Who     []string // principals of the lines that allow the key
	Refused string   // why a line that names the key does not allow it
	Known   bool
}

// Judge looks a key up. A signature holds no time of its own; at is when the seal was made by the word of its entry.
func (s *Signers) Judge(key ssh.PublicKey, at time.Time) Permit {
	return s.judgeFor(SealNamespace, key, at)
}

// judgeFor is Judge for what has another namespace.
func (s *Signers) judgeFor(namespace string, key ssh.PublicKey, at time.Time) Permit {
	var p Permit
	if s == nil {
		return p
	}
	raw := key.Marshal()
	for _, row := range s.rows {
		if row.authority || !bytes.Equal(row.key, raw) {
			continue
		}
		p.Known = true
		switch {
		case row.namespaces != "" && !MatchPatterns(row.namespaces, namespace):
			p.Refused = fmt.Sprintf("line %d allows %q for %q only", row.line, row.principals, row.namespaces)
		case !row.after.IsZero() && at.Before(row.after):
			p.Refused = fmt.Sprintf("line %d allows %q from %s on only", row.line, row.principals, row.after.UTC().Format(time.RFC3339))
		case !row.before.IsZero() && !at.Before(row.before):
			p.Refused = fmt.Sprintf("line %d allows %q before %s only", row.line, row.principals, row.before.UTC().Format(time.RFC3339))
		default:
			p.Who = append(p.Who, row.principals)
		}
	}
	return p
}

// Authorities counts the lines that would allow whatever a certificate authority signed; handrail does not check such.
func (s *Signers) Authorities() int {
	if s == nil {
		return 0
	}
	return len(slices.DeleteFunc(slices.Clone(s.rows), func(r signerRow) bool { return !r.authority }))
}
