package store

import "handrail/steps"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "store/access", Class: steps.Probe, Facts: accessFacts(),
		Doc: "Evaluates saved policies of an identity and of a bucket for one request, as AWS does, and names the statement that decides. Finds each Deny with NotPrincipal, which denies all but those that it names.",
		Params: []steps.Field{
			{Name: "principal", Type: steps.String, Required: true, Pattern: `arn:[a-z0-9-]+:(iam|sts):[a-z0-9-]*:[0-9]*:\S{1,300}`, Doc: "ARN of the identity that writes, as aws sts get-caller-identity prints it"},
			{Name: "action", Type: steps.String, Default: "s3:PutObject", Pattern: `[a-zA-Z0-9-]+:[A-Za-z0-9]+`, Doc: "what it does"},
			{Name: "target", Type: steps.String, Required: true, Pattern: `arn:[a-z0-9-]+:s3:::\S{1,1000}`, Doc: "ARN of the object or the bucket, as arn:aws:s3:::BUCKET/KEY"},
			{Name: "identity_policy", Type: steps.Path, Doc: "policy of the identity, or a directory whose *.json files are all of them; those of its groups are its own"},
			{Name: "bucket_policy", Type: steps.Path, Doc: "policy of the bucket"},
			{Name: "context", Type: steps.String, Pattern: `[A-Za-z0-9:/_.-]+=[^,=]*(,[A-Za-z0-9:/_.-]+=[^,=]*)*`, Doc: "keys of conditions that are known, as aws:SourceIp=10.0.0.7,aws:SecureTransport=true; empty for one that is surely absent"},
		},
		Touches: []string{"reads the files, and keeps them"},
		Reads:   func(e steps.Env) steps.Prober { return accessProbe{e} },
	}}
}

func accessFacts() []steps.Field {
	return []steps.Field{
		{Name: "access", Type: steps.Enum, Values: []string{"allow", "deny", "none"}, Doc: "deny: a statement denies it; none: nothing allows it, which is denied as well; unknown where a policy was not given or a condition is open"},
		{Name: "layer", Type: steps.Enum, Values: []string{"identity", "resource"}, Doc: "where the statement hangs that decides"},
		{Name: "by", Type: steps.String, Doc: "the statement that decides, empty where none does"},
		{Name: "identity_alone", Type: steps.Enum, Values: []string{"allow", "deny", "none"}, Doc: "what the policies of the identity say by themselves"},
		{Name: "inverted", Type: steps.Strings, Doc: "each Deny with NotPrincipal, with whom it spares"},
		{Name: "statements", Type: steps.Int, Doc: "statements that were read"},
		{Name: "bucket_digest", Type: steps.Ident, Doc: "SHA-256 of the file of the bucket's policy"},
	}
}
