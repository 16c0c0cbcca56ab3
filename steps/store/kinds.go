package store

import (
	"time"

	"handrail/steps"
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return append(live(), access(), policyGate(), canaryGate(), auditGate())
}

const (
	asks       = "asks the store that the environment names, by GET alone"
	bucketForm = `[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]`
	keyForm    = `[A-Za-z0-9!_.*'()=+@:,-]([A-Za-z0-9!_.*'()=+@:,/-]{0,500}[A-Za-z0-9!_.*'()=+@:,-])?`
)

func bucketField() steps.Field {
	return steps.Field{Name: "bucket", Type: steps.String, Required: true, Pattern: bucketForm, Doc: "name of the bucket"}
}

func profileField() steps.Field {
	return steps.Field{Name: "profile", Type: steps.String, Pattern: `[A-Za-z0-9_.@+-]{1,100}`, Doc: "profile of the AWS tools to sign in with; without it the keys of the environment, then AWS_PROFILE"}
}

// peopleFields are the parameters of what evaluates policies for several identities.
func peopleFields() []steps.Field {
	return []steps.Field{
		{Name: "identities", Type: steps.String, Pattern: namesForm, Doc: "identities as the policy names them, with commas between: ARNs, or names where a store has none"},
		{Name: "writer", Type: steps.String, Pattern: nameForm, Doc: "the one of them that has to write"},
		{Name: "intended", Type: steps.String, Pattern: nameForm, Doc: "the one of them that the change was to deny"},
		{Name: "identity_policies", Type: steps.Path, Later: true, Doc: "folder with the policies of each, as NAME.json or NAME/*.json by the last part of its name"},
		{Name: "bucket_only", Type: steps.Bool, Default: "false", Doc: "whether identities have no policies on this store, so that the one of the bucket decides alone"},
		{Name: "action", Type: steps.String, Default: "s3:PutObject", Pattern: `s3:[A-Za-z0-9]+`, Doc: "what they do"},
		{Name: "key", Type: steps.String, Default: "handrail/canary", Pattern: keyForm, Doc: "object that they do it to"},
		{Name: "context", Type: steps.String, Pattern: contextForm, Doc: "keys of conditions that are known, as aws:SourceIp=10.0.0.7,aws:SecureTransport=true; empty for one that is surely absent"},
	}
}

func live() []steps.Kind {
	most := steps.Field{Name: "most", Type: steps.Int, Default: usualListed, Doc: "objects that are read at most, up to 1000000"}
	prefix := steps.Field{Name: "prefix", Type: steps.String, Pattern: `[^\x00-\x1f\x7f]{1,500}`, Doc: "what the keys begin with"}
	minutes := func(n int) func(steps.Params) time.Duration {
		return func(steps.Params) time.Duration { return time.Duration(n) * time.Minute }
	}
	return []steps.Kind{
		{
			Name: "store/listing", Class: steps.Probe, Facts: listingFacts(), Takes: minutes(5),
			Doc: "Lists the objects of a bucket at a stated time, and says how many were written since another, which is the newest, and whether versions are kept. A list that is not read to its end counts nothing.",
			Params: []steps.Field{bucketField(), prefix,
				{Name: "since", Type: steps.Duration, Default: "1h", Doc: "window whose new objects are counted"},
				{Name: "from", Type: steps.Time, Doc: "instead: when the window begins"}, most, profileField()},
			Touches: []string{asks, "keeps the list"},
			Reads:   func(e steps.Env) steps.Prober { return listingProbe{env: e} },
		},
		{
			Name: "store/policies", Class: steps.Probe, Facts: policiesFacts(), Covers: []string{"E5"},
			Doc: "Reads the policy of a bucket, and says what it and a saved one from before let each identity do. Names who lost what it had, and by which statement.",
			Params: append([]steps.Field{bucketField(), {Name: "before", Type: steps.Path, Later: true, Doc: "policy of the bucket from before the change"}},
				append(peopleFields(), profileField())...),
			Touches: []string{asks, "reads the files, and keeps them"},
			Reads:   func(e steps.Env) steps.Prober { return policiesProbe{env: e} },
		},
		{
			Name: "store/phantoms", Class: steps.Probe, Facts: phantomsFacts(), Takes: minutes(5),
			Doc: "Holds saved notifications of a store against a list of the bucket: which objects were told to be written, and are not there.",
			Params: []steps.Field{bucketField(),
				{Name: "notifications", Type: steps.Path, Required: true, Later: true, Doc: "file of notifications as S3 sends them, one JSON document in each line or a list, up to 64 MiB"},
				prefix,
				{Name: "from", Type: steps.Time, Doc: "notifications before that are passed over"},
				{Name: "until", Type: steps.Time, Doc: "notifications after that are passed over"}, most, profileField()},
			Touches: []string{asks, "reads the file, and keeps it with the list"},
			Reads:   func(e steps.Env) steps.Prober { return phantomsProbe{env: e} },
		},
	}
}

const namesForm = `[A-Za-z0-9+=.@:/_-][A-Za-z0-9+=.@:/_, -]*`

const contextForm = `[A-Za-z0-9:/_.-]+=[^,=]*(,[A-Za-z0-9:/_.-]+=[^,=]*)*`

func access() steps.Kind {
	return steps.Kind{
		Name: "store/access", Class: steps.Probe, Facts: accessFacts(),
		Doc: "Evaluates saved policies of an identity and of a bucket for one request, as AWS does, and names the statement that decides. Finds each Deny that is inverted, which denies all but those that it names.",
		Params: []steps.Field{
			{Name: "principal", Type: steps.String, Required: true, Pattern: `arn:[a-z0-9-]+:(iam|sts):[a-z0-9-]*:[0-9]*:\S{1,300}`, Doc: "ARN of the identity that writes, as aws sts get-caller-identity prints it"},
			{Name: "action", Type: steps.String, Default: "s3:PutObject", Pattern: `[a-zA-Z0-9-]+:[A-Za-z0-9]+`, Doc: "what it does"},
			{Name: "target", Type: steps.String, Required: true, Pattern: `arn:[a-z0-9-]+:s3:::\S{1,1000}`, Doc: "ARN of the object or the bucket, as arn:aws:s3:::BUCKET/KEY"},
			{Name: "identity_policy", Type: steps.Path, Doc: "policy of the identity, or a directory whose *.json files are all of them; those of its groups are its own"},
			{Name: "bucket_policy", Type: steps.Path, Doc: "policy of the bucket"},
			{Name: "context", Type: steps.String, Pattern: contextForm, Doc: "keys of conditions that are known, as aws:SourceIp=10.0.0.7,aws:SecureTransport=true; empty for one that is surely absent"},
		},
		Touches: []string{"reads the files, and keeps them"},
		Reads:   func(e steps.Env) steps.Prober { return accessProbe{e} },
	}
}

func policyGate() steps.Kind {
	return steps.Kind{
		Name: "store/policy", Class: steps.Repair,
		Doc: "Puts one statement of the policy of a bucket right: a Deny in place of a Deny, which names whom it denies. Shows what each identity may do before and after, and sends the document that was shown once.",
		Params: append([]steps.Field{bucketField(),
			{Name: "policy", Type: steps.Path, Required: true, Later: true, Doc: "the whole policy as it is to be"},
			{Name: "replaces", Type: steps.String, Required: true, Pattern: `[A-Za-z0-9 _-]{1,128}`, Doc: "Sid of the live statement that is replaced, or its number"},
			{Name: "digest", Type: steps.Ident, Required: true, Pattern: `[0-9a-f]{64}`, Doc: "SHA-256 of the live policy as store/policies read it"},
			{Name: "keep", Type: steps.String, Pattern: namesForm, Doc: "identities that must stay denied, with commas between"}},
			append(peopleFields(), profileField())...),
		Touches: []string{"asks the store that the environment names, and reads the files", "sends one PUT with the policy that was shown"},
		Changes: func(e steps.Env) steps.Gater { return policyWriter{env: e} },
	}
}

func canaryGate() steps.Kind {
	return steps.Kind{
		Name: "store/canary", Class: steps.Repair,
		Doc: "Writes one small object as the identity that has to write, where none is, and lists the bucket to see it.",
		Params: []steps.Field{bucketField(),
			{Name: "key", Type: steps.String, Default: "handrail/canary", Pattern: `[A-Za-z0-9][A-Za-z0-9._/-]{0,300}`, Doc: "key of the object; there must be none"},
			profileField(),
			{Name: "reader", Type: steps.String, Pattern: `[A-Za-z0-9_.@+-]{1,100}`, Doc: "profile that lists the bucket, where the writer may not; without it the one of the environment"}},
		Touches: []string{"asks the store that the environment names", "sends one PUT with a body of 64 bytes at most, as the writer"},
		Changes: func(e steps.Env) steps.Gater { return canaryWriter{env: e} },
	}
}

func auditGate() steps.Kind {
	return steps.Kind{
		Name: "store/audit", Class: steps.Repair,
		Doc: "Has a MinIO whose audit is off, or tells a dead address, tell one endpoint of each request. Done once the store says that it reaches it. Restarts nothing.",
		Params: []steps.Field{
			{Name: "endpoint", Type: steps.String, Required: true, Pattern: `https?://[A-Za-z0-9.:\[\]_-]{1,253}(/[A-Za-z0-9._~/-]{0,500})?`, Doc: "address that takes the records, with https, or http of this machine"},
			{Name: "name", Type: steps.String, Default: "handrail", Pattern: `[a-z0-9][a-z0-9-]{0,30}`, Doc: "name of the target, as in audit_webhook:NAME"},
			profileField()},
		Touches: []string{"asks the store that the environment names, by its API for administrators", "sends one PUT with the setting that was shown"},
		Changes: func(e steps.Env) steps.Gater { return auditWriter{env: e} },
	}
}

func listingFacts() []steps.Field {
	return []steps.Field{
		{Name: "at", Type: steps.Time, Doc: "when the list was begun"},
		{Name: "from", Type: steps.Time, Doc: "when the window begins"},
		{Name: "complete", Type: steps.Bool, Doc: "whether the list was read to its end; what is counted is unknown where it was not"},
		{Name: "listed", Type: steps.Int, Doc: "objects that were read"},
		{Name: "objects", Type: steps.Int, Doc: "objects that there are"},
		{Name: "bytes", Type: steps.Int, Doc: "bytes of all of them"},
		{Name: "gained", Type: steps.Int, Doc: "objects that were written in the window, one that was written over among them"},
		{Name: "newest", Type: steps.String, Doc: "key of the one that was written last"},
		{Name: "newest_at", Type: steps.Time, Doc: "when it was written, by the clock of the store"},
		{Name: "quiet", Type: steps.Duration, Ages: true, Doc: "how long ago that is"},
		{Name: "versioning", Type: steps.Enum, Values: []string{"off", "enabled", "suspended"}, Doc: "whether the bucket keeps versions"},
		{Name: "markers", Type: steps.Int, Doc: "objects that were deleted into a marker in the window: gone from the list, and not lost"},
	}
}

func policiesFacts() []steps.Field {
	effects := []string{"allow", "deny", "none"}
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the bucket has a policy"},
		{Name: "at", Type: steps.Time, Doc: "when it was read"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the live policy"},
		{Name: "statements", Type: steps.Int, Doc: "statements of the live policy"},
		{Name: "inverted", Type: steps.Strings, Doc: "live statements that deny all but those that they name, by Sid or number"},
		{Name: "was", Type: steps.Table, Doc: "each identity to what the policy from before lets it do: allow, deny, none or unknown"},
		{Name: "now", Type: steps.Table, Doc: "each identity to what the live policy lets it do"},
		{Name: "by", Type: steps.Table, Doc: "each identity to the statement that decides now"},
		{Name: "lost", Type: steps.Strings, Doc: "identities that were allowed and are not now"},
		{Name: "won", Type: steps.Strings, Doc: "identities that were not allowed and are now"},
		{Name: "open", Type: steps.Strings, Doc: "identities for which it is not known, with why"},
		{Name: "settled", Type: steps.Bool, Doc: "whether it is known for each, before and now"},
		{Name: "writer", Type: steps.Enum, Values: effects, Doc: "what the writer may do now"},
		{Name: "writer_by", Type: steps.String, Doc: "the statement that decides for the writer"},
		{Name: "decides", Type: steps.String, Doc: "that statement by Sid or number, where it is one of the bucket"},
		{Name: "intended", Type: steps.Enum, Values: effects, Doc: "what the identity may do that the change was to deny"},
		{Name: "changed", Type: steps.Bool, Doc: "whether the live policy is another than the one from before"},
		{Name: "added", Type: steps.Strings, Doc: "live statements that the one from before does not have, by Sid or number"},
	}
}

func phantomsFacts() []steps.Field {
	return []steps.Field{
		{Name: "at", Type: steps.Time, Doc: "when the list was begun"},
		{Name: "events", Type: steps.Int, Doc: "notifications of the bucket, the prefix and the window"},
		{Name: "other", Type: steps.Int, Doc: "notifications of something else"},
		{Name: "unreadable", Type: steps.Int, Doc: "documents that are no notification; what is counted is unknown where there are any"},
		{Name: "complete", Type: steps.Bool, Doc: "whether the list was read to its end"},
		{Name: "keys", Type: steps.Int, Doc: "objects that were told to be written, and not to be removed afterwards"},
		{Name: "phantoms", Type: steps.Int, Doc: "those of them that are not there"},
		{Name: "stale", Type: steps.Int, Doc: "those of them that are there, and are older than what was told"},
		{Name: "removed", Type: steps.Int, Doc: "objects that were told to be removed last"},
		{Name: "first_at", Type: steps.Time, Doc: "when the first of the phantoms was told"},
		{Name: "last_at", Type: steps.Time, Doc: "when the last of them was told"},
		{Name: "examples", Type: steps.Strings, Doc: "keys of the first ten"},
	}
}

func accessFacts() []steps.Field {
	return []steps.Field{
		{Name: "access", Type: steps.Enum, Values: []string{"allow", "deny", "none"}, Doc: "deny: a statement denies it; none: nothing allows it, which is denied as well; unknown where a policy was not given or a condition is open"},
		{Name: "layer", Type: steps.Enum, Values: []string{"identity", "resource"}, Doc: "where the statement hangs that decides"},
		{Name: "by", Type: steps.String, Doc: "the statement that decides, empty where none does"},
		{Name: "identity_alone", Type: steps.Enum, Values: []string{"allow", "deny", "none"}, Doc: "what the policies of the identity say by themselves"},
		{Name: "inverted", Type: steps.Strings, Doc: "each Deny with NotPrincipal, or for all but those that a condition excepts, with whom it spares"},
		{Name: "statements", Type: steps.Int, Doc: "statements that were read"},
		{Name: "bucket_digest", Type: steps.Ident, Doc: "SHA-256 of the file of the bucket's policy"},
	}
}
