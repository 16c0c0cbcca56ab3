// Package store tells what a store of objects that speaks S3 holds, and why it refuses or takes a write.
//
//	store/access    what saved policies of an identity and of a bucket say of one request, and which statement decides
//	store/listing   what a bucket has gained, by its own list
//	store/policies  what the live policy of a bucket, and one from before, let each identity do
//	store/phantoms  which objects were told to be written, and are not there
//	store/policy    the gate that puts one Deny in place of another
//	store/canary    the gate that writes one object, and lists it
//	store/audit     the gate that has a MinIO tell an endpoint of each request
//
// The evaluation itself is that of steps/store/iam. Documents are read as AWS, MinIO and the tools print them: the document alone,
// the answer of aws s3api get-bucket-policy, of aws iam get-policy-version and get-role-policy, or of mc admin policy info.
//
// Probes ask through transport.Fetch, which sends GET and HEAD to one server. Each gate composes its one request before it is shown;
// transport.Store lets that through, once. What was written is read again before it counts as done. Server and credentials
// stand in the environment of the operator, by the names of the AWS tools ([placeOf]); a secret key is a secret of the incident.
package store
