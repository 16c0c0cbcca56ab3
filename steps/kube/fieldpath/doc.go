// Package fieldpath names one field of a Kubernetes object as a person would,
// finds it in the object, and says which owner of the object's managedFields
// holds it.
//
// The grammar is close to that of kubectl's JSON paths:
//
//	spec.replicas                                    fields, with dots between them
//	metadata.labels[app.kubernetes.io/name]          a key that holds dots
//	data["a]b"]                                      a key that holds anything
//	spec.template.spec.containers[name=app].image    an item, by one or more of its fields
//	metadata.finalizers[example.com/hold]            an item of a list of texts
//	metadata.finalizers[=1]                          the same, where it could be a number
//	spec.template.spec.containers[0]                 an item, by its place
//
// A key with dots may also be written as kubectl takes it (data.tls\.crt), and
// where the object holds such a key, without the backslash. The empty text names
// the object itself.
package fieldpath
