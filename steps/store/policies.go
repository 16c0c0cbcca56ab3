package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/store/iam"
)

// document is a policy as its bytes, and as it is read.
type document struct {
	raw        []byte
	policy     iam.Policy
	statements []json.RawMessage // as they stand in raw, in order
	rest       map[string]json.RawMessage
}

// digest is the SHA-256 of the bytes.
func (d document) digest() string {
	sum := sha256.Sum256(d.raw)
	return hex.EncodeToString(sum[:])
}

// parseDocument reads a policy of a bucket.
func parseDocument(raw []byte) (document, error) {
	d := document{raw: raw}
	var err error
	if d.policy, err = iam.Parse(raw); err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d.rest); err != nil {
		return d, errors.New("it is no policy document in JSON")
	}
	// A name that stands twice, or in another case, may be read by one and passed over by the other.
	named := 0
	for key, value := range d.rest {
		if strings.EqualFold(key, "Statement") {
			named++
			if json.Unmarshal(value, &d.statements) != nil {
				d.statements = []json.RawMessage{value}
			}
			delete(d.rest, key)
		}
	}
	if named != 1 || len(d.statements) != len(d.policy.Statements) {
		return d, errors.New("its statements can be read in two ways")
	}
	return d, nil
}

// find returns the place of a statement by its Sid, or by its number, counted from one.
func (d document) find(which string) (int, error) {
	found := -1
	for i, s := range d.policy.Statements {
		if s.ID == which {
			if found >= 0 {
				return 0, fmt.Errorf("two statements have the Sid %q: name the one that is meant by its number", which)
			}
			found = i
		}
	}
	if found >= 0 {
		return found, nil
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(d.policy.Statements) {
		return n - 1, nil
	}
	return 0, fmt.Errorf("no statement has the Sid %q, and none that number: it has %d", steps.Clip(which, 100), len(d.policy.Statements))
}

// name is what finds a statement again: its Sid where no other has it, else its number.
func (d document) name(i int) string {
	id := d.policy.Statements[i].ID
	if at, err := d.find(id); id != "" && err == nil && at == i {
		return id
	}
	return strconv.Itoa(i + 1)
}

// same reports whether two parts of documents are equal as JSON.
func same(a, b json.RawMessage) bool { return bytes.Equal(canonical(a), canonical(b)) }

// canonical is JSON with names in order and no blanks. What is none stays as it is.
func canonical(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// shortPart is how long a list or an object may be that stays on one line.
const shortPart = 76

// pretty are the lines of a document. What is short stays on one line, so that what a change does stands beside it on a screen.
func pretty(raw json.RawMessage) []string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return []string{string(raw)}
	}
	lines := strings.Split(b.String(), "\n")
	for at := 0; at < len(lines); at++ {
		if end := closing(lines, at); at > 0 && end > at {
			if one := joined(lines[at : end+1]); len(one) <= shortPart {
				lines = slices.Replace(lines, at, end+1, one)
			}
		}
	}
	return lines
}

// closing is the line that closes what a line opens, the line itself where it opens nothing.
func closing(lines []string, at int) int {
	open := lines[at]
	if !strings.HasSuffix(open, "[") && !strings.HasSuffix(open, "{") {
		return at
	}
	indent := open[:len(open)-len(strings.TrimLeft(open, " "))]
	for i := at + 1; i < len(lines); i++ {
		if rest, is := strings.CutPrefix(lines[i], indent); is && (rest[0] == ']' || rest[0] == '}') {
			return i
		}
	}
	return at
}

// joined puts lines on one.
func joined(lines []string) string {
	one := lines[0]
	for _, line := range lines[1:] {
		if strings.HasSuffix(one, ",") {
			one += " "
		}
		one += strings.TrimLeft(line, " ")
	}
	return one
}

// policyNow asks for the policy of a bucket. found is false where there is none.
func (p place) policyNow(ctx context.Context, client *s3.Client, bucket string) (raw []byte, found bool, err error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	got, err := client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &bucket})
	if code, status := codeOf(err); code == "NoSuchBucketPolicy" && status == http.StatusNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, p.why("policy of "+bucket, err)
	}
	text := aws.ToString(got.Policy)
	if len(text) > mostPolicy {
		return nil, false, fmt.Errorf("policy of %s: it has more than 1 MiB", bucket)
	}
	return []byte(text), true, nil
}

type policiesProbe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// resourceOf is the object that a step asks about.
func resourceOf(in steps.Params) string {
	return "arn:aws:s3:::" + in.Text("bucket") + "/" + in.Text("key")
}

// Probe implements steps.Prober.
func (p policiesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	var obs steps.Observation
	who, err := peopleOf(p.env, in, out, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	before, err := p.before(in, out, &obs)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy from before: %w", err)
	}
	to, err := placeOf(ctx, p.env, p.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	client, done := to.reader()
	defer done()
	bucket := in.Text("bucket")
	raw, found, err := to.policyNow(ctx, client, bucket)
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, err
	}
	f := steps.NewFacts(policiesFacts())
	f.Set("exists", steps.BoolOf(found))
	f.Set("at", steps.TimeOf(clock(p.env)))
	obs.Command = to.command("get-bucket-policy --bucket " + steps.Quote(bucket))
	var live *document
	if found {
		if gap := steps.Keep(out, "bucket-policy", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
		d, err := parseDocument(raw)
		if err != nil {
			return steps.Observation{}, fmt.Errorf("policy of %s: %w", bucket, err)
		}
		live = &d
	}
	told := tellLive(f, live, &obs)
	if err := tellPeople(ctx, f, in, who, before, live, &obs); err != nil {
		return steps.Observation{}, err
	}
	obs.Summary = bucket + " has " + told + tellTurned(f)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// before is the policy that was saved from before the change, nil where none was.
func (p policiesProbe) before(in steps.Params, out steps.Sink, obs *steps.Observation) (*document, error) {
	name := in.Text("before")
	if name == "" {
		return nil, nil
	}
	raw, err := readPolicy(steps.Below(p.env.Dir, name))
	if err != nil {
		return nil, err
	}
	if gap := steps.Keep(out, "policy-before", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	d, err := parseDocument(unwrapped(raw))
	return &d, err
}

// tellLive sets what the live policy is.
func tellLive(f steps.Facts, live *document, obs *steps.Observation) string {
	if live == nil {
		f.Unknown("the bucket has no policy", "digest")
		f.Set("statements", steps.IntOf(0))
		f.Set("inverted", steps.StringsOf([]string{}))
		return "no policy"
	}
	f.Set("digest", steps.IdentOf(live.digest()))
	f.Set("statements", steps.IntOf(int64(len(live.policy.Statements))))
	inverted := []string{}
	for i, s := range live.policy.Statements {
		if s.Inverted() {
			inverted = append(inverted, live.name(i))
			obs.Say(steps.Warning, "Statement %s denies all but those that it names: it spares %s.", live.name(i), steps.Clip(strings.Join(s.Spares(), ", "), 300))
		}
	}
	f.Set("inverted", steps.StringsOf(inverted))
	return fmt.Sprintf("a policy of %d statements", len(live.policy.Statements))
}

// tellPeople sets what each may do, before and now.
func tellPeople(ctx context.Context, f steps.Facts, in steps.Params, who people, before, live *document, obs *steps.Observation) error {
	policyOf := func(d *document) *iam.Policy {
		if d == nil {
			return nil
		}
		return &d.policy
	}
	now, err := who.effects(ctx, in.Text("action"), resourceOf(in), policyOf(live))
	if err != nil {
		return err
	}
	f.Set("now", steps.TableOf(now.is))
	f.Set("by", steps.TableOf(now.by))
	open := now.open
	if writer := in.Text("writer"); writer == "" {
		f.Unknown("no writer was named", "writer", "writer_by", "decides")
	} else if is := now.is[writer]; is == string(iam.Unknown) {
		f.Unknown(who.decide(writer, in.Text("action"), resourceOf(in), policyOf(live)).Why, "writer", "writer_by", "decides")
	} else {
		f.Set("writer", steps.EnumOf(is))
		f.Set("writer_by", steps.StringOf(now.by[writer]))
		decides(f, who.decide(writer, in.Text("action"), resourceOf(in), policyOf(live)), live)
	}
	if intended := in.Text("intended"); intended == "" {
		f.Unknown("no identity was named that is to be denied", "intended")
	} else if is := now.is[intended]; is == string(iam.Unknown) {
		f.Unknown("not known is what decides for it", "intended")
	} else {
		f.Set("intended", steps.EnumOf(is))
	}
	obs.Gaps = append(obs.Gaps, open...)
	if in.Text("before") == "" {
		f.Unknown("no policy from before was given", "was", "changed", "lost", "won", "settled", "added")
		f.Set("open", steps.StringsOf(append([]string{}, open...)))
		return nil
	}
	was, err := who.effects(ctx, in.Text("action"), resourceOf(in), policyOf(before))
	if err != nil {
		return err
	}
	lost, won := turned(was.is, now.is, who.names)
	f.Set("was", steps.TableOf(was.is))
	f.Set("changed", steps.BoolOf(live == nil || !same(before.raw, live.raw)))
	f.Set("added", steps.StringsOf(added(before, live)))
	for _, line := range was.open {
		if !slices.Contains(open, line) {
			open = append(open, line)
			obs.Gaps = append(obs.Gaps, "before, "+line)
		}
	}
	f.Set("open", steps.StringsOf(append([]string{}, open...)))
	f.Set("lost", steps.StringsOf(append([]string{}, lost...)))
	f.Set("won", steps.StringsOf(append([]string{}, won...)))
	f.Set("settled", steps.BoolOf(len(open) == 0))
	for _, name := range lost {
		obs.Say(steps.Warning, "%s was allowed, and is not now: %s.", name, now.by[name])
	}
	return nil
}

// decides names the statement of the bucket that denies, as a gate takes it.
func decides(f steps.Facts, d iam.Decision, live *document) {
	if d.Layer != iam.Bucket || live == nil {
		f.Unknown("no statement of the bucket decides", "decides")
		return
	}
	for i, place := range iam.Places(nil, []iam.Policy{live.policy}) {
		if place.String() == d.At {
			f.Set("decides", steps.StringOf(live.name(i)))
			return
		}
	}
	f.Unknown("the statement was not found again", "decides")
}

// added names the statements that the policy from before does not have.
func added(before, live *document) []string {
	out := []string{}
	if live == nil {
		return out
	}
	for i, s := range live.statements {
		if !slices.ContainsFunc(before.statements, func(o json.RawMessage) bool { return same(o, s) }) {
			out = append(out, live.name(i))
		}
	}
	return out
}

func tellTurned(f steps.Facts) string {
	text := "."
	if w := f.Got("writer"); w.Known() {
		text = ", and by it the writer gets " + cmp.Or(map[string]string{"none": "nothing"}[w.Text()], w.Text()) + text
	}
	if lost := f.Got("lost"); lost.Known() {
		text += fmt.Sprintf(" %d of the identities lost what they had before.", len(lost.Strings()))
	}
	return text
}
