// Package helm reads the releases that Helm keeps in a cluster, and says of one whether it
// hangs in pending-install, pending-upgrade or pending-rollback.
//
// Helm writes a record of each revision before it changes anything, and finishes it at the
// end. Until then no other helm goes on with that release: the record is state and lock in
// one. A helm that was killed leaves it pending for good, and each later run answers
// "another operation (install/upgrade/rollback) is in progress".
//
// A record is a Secret, or a ConfigMap with HELM_DRIVER=configmap, with labels for its
// owner, release, revision and status (helm.sh/helm/v3, pkg/storage/driver/secrets.go and
// cfgmaps.go). The labels say all that is asked here. What is in the record, which holds
// the values of the release, is never read: lists ask the server for metadata alone.
package helm
