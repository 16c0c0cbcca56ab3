package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/store/iam"
)

const (
	mostPolicy = 1 << 20
	mostFiles  = 100
)

type accessProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p accessProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if in.Text("identity_policy") == "" && in.Text("bucket_policy") == "" {
		return steps.Observation{}, errors.New("neither a policy of the identity nor one of the bucket is given: save them, then read again")
	}
	var obs steps.Observation
	identity, _, err := p.policies(in.Text("identity_policy"), "identity-policy", out, &obs)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy of the identity: %w", err)
	}
	bucket, digest, err := p.policies(in.Text("bucket_policy"), "bucket-policy", out, &obs)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy of the bucket: %w", err)
	}
	r := iam.Request{Principal: in.Text("principal"), Action: in.Text("action"), Resource: in.Text("target"), Context: withPrincipal(known(in.Text("context")), in.Text("principal"))}
	f := steps.NewFacts(accessFacts())
	d := iam.Decide(r, identity, bucket)
	tell(f, in, d)
	if in.Text("identity_policy") == "" {
		f.Unknown("no policy of the identity was given", "identity_alone")
	} else if alone := iam.Decide(r, identity, nil); alone.Effect == iam.Unknown {
		f.Unknown(alone.At+": not known is "+alone.Why, "identity_alone")
	} else {
		f.Set("identity_alone", steps.EnumOf(string(alone.Effect)))
	}
	if digest == "" {
		f.Unknown("no policy of the bucket was given", "bucket_digest")
	} else {
		f.Set("bucket_digest", steps.IdentOf(digest))
	}
	all := iam.Places(identity, bucket)
	f.Set("statements", steps.IntOf(int64(len(all))))
	inverted := []string{}
	for _, s := range all {
		if s.Inverted() {
			inverted = append(inverted, steps.Clip(fmt.Sprintf("%s: spares %s", s, strings.Join(s.Spares(), ", ")), 400))
		}
	}
	f.Set("inverted", steps.StringsOf(inverted))
	obs.Summary = summary(r, d, in)
	obs.Command = fmt.Sprintf("aws iam simulate-principal-policy --policy-source-arn %s --action-names %s --resource-arns %s", steps.Quote(r.Principal), r.Action, steps.Quote(r.Resource))
	for _, line := range inverted {
		obs.Say(steps.Warning, "A Deny that is inverted denies all but those that it names: %s.", line)
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// tell sets what decides. What only one of the layers was read of allows nothing for sure.
func tell(f steps.Facts, in steps.Params, d iam.Decision) {
	lacking := ""
	switch {
	case in.Text("bucket_policy") == "":
		lacking = "no policy of the bucket was given, and it may decide"
	case in.Text("identity_policy") == "":
		lacking = "no policy of the identity was given, and it may decide"
	}
	switch {
	case d.Effect == iam.Deny: // whatever the other layer has
		f.Set("access", steps.EnumOf(string(d.Effect)))
	case d.Effect == iam.Unknown:
		f.Unknown(d.At+": not known is "+d.Why, "access", "layer", "by")
		return
	case lacking != "":
		f.Unknown(lacking, "access", "layer", "by")
		return
	default:
		f.Set("access", steps.EnumOf(string(d.Effect)))
	}
	f.Set("by", steps.StringOf(d.At))
	if d.Layer == "" {
		f.Unknown("no statement decides", "layer")
		return
	}
	f.Set("layer", steps.EnumOf(string(d.Layer)))
}

func summary(r iam.Request, d iam.Decision, in steps.Params) string {
	what := fmt.Sprintf("%s on %s by %s", r.Action, r.Resource, r.Principal)
	switch {
	case d.Effect == iam.Deny:
		return what + " is denied by " + d.At + "."
	case d.Effect == iam.Unknown:
		return what + ": not known is " + d.Why + "."
	case in.Text("bucket_policy") == "" || in.Text("identity_policy") == "":
		return what + ": one of the two policies was not given."
	case d.Effect == iam.Allow:
		return what + " is allowed by " + d.At + "."
	}
	return what + ": nothing allows it."
}

// known are the keys of conditions that a person gave.
func known(text string) map[string][]string {
	out := map[string][]string{}
	if text == "" {
		return out
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if value = strings.TrimSpace(value); value != "" {
			out[key] = append(out[key], value)
		} else if out[key] == nil {
			out[key] = []string{}
		}
	}
	return out
}

// policies reads a file, or the *.json files of a directory, and keeps them. digest is that of a single file.
func (p accessProbe) policies(name, role string, out steps.Sink, obs *steps.Observation) (list []iam.Policy, digest string, err error) {
	if name == "" {
		return nil, "", nil
	}
	at := steps.Below(p.env.Dir, name)
	names := []string{at}
	if info, err := os.Stat(at); err != nil {
		return nil, "", err
	} else if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(at, "*.json")); err != nil {
			return nil, "", err
		}
		slices.Sort(names)
		if len(names) == 0 || len(names) > mostFiles {
			return nil, "", fmt.Errorf("%s has %d *.json files, and 1 to %d are read", name, len(names), mostFiles)
		}
	}
	for i, file := range names {
		raw, err := readPolicy(file)
		if err != nil {
			return nil, "", err
		}
		kept := role
		if len(names) > 1 {
			kept = fmt.Sprintf("%s-%d", role, i+1)
		}
		if gap := steps.Keep(out, kept, steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
		one, err := iam.Parse(unwrapped(raw))
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		list = append(list, one)
		sum := sha256.Sum256(raw)
		digest = hex.EncodeToString(sum[:])
	}
	if len(names) != 1 {
		digest = ""
	}
	return list, digest, nil
}

func readPolicy(file string) ([]byte, error) {
	f, err := steps.OpenRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", filepath.Base(file))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, mostPolicy+1))
	if err == nil && len(raw) > mostPolicy {
		err = fmt.Errorf("%s has more than 1 MiB", filepath.Base(file))
	}
	return raw, err
}

// unwrapped is the document in what a tool prints around it.
func unwrapped(raw []byte) []byte {
	var in struct {
		Policy         json.RawMessage // s3api get-bucket-policy as text, mc admin policy info as an object
		PolicyDocument json.RawMessage // iam get-role-policy, get-user-policy
		PolicyVersion  struct{ Document json.RawMessage }
	}
	if json.Unmarshal(raw, &in) != nil {
		return raw
	}
	for _, inner := range []json.RawMessage{in.Policy, in.PolicyDocument, in.PolicyVersion.Document} {
		if len(inner) == 0 {
			continue
		}
		var text string
		if json.Unmarshal(inner, &text) == nil {
			return []byte(text)
		}
		return inner
	}
	return raw
}
