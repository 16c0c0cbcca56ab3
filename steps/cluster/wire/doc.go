// Package wire reads the lists that an API server answers in protobuf, as far as a
// Shape asks for. Nothing else of a page is built: of a Pod, what a reader of lists
// wants is a few hundred bytes of some thousands.
//
// What is read looks as the JSON of the same object would: mappings of texts, truth
// values, lists and mappings, under the names of JSON. A field that is not set is not
// there, where JSON might show it empty.
//
// The bytes are a stranger's: what does not hold together is an error, never a list
// that looks shorter than it is.
package wire
